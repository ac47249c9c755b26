"""The declaration of a lab: the controls of its request, its labels and its link."""
