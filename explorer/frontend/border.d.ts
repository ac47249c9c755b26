// deno-lint-ignore-file no-explicit-any -- some values are what a lab alone knows.
// Written by python -m tools.border from explorer/components/border.py.

export interface InputBarProps {
  typing: Record<string, string>;
  region: Record<string, string>;
  run: Record<string, string> | null;
  controls: Record<string, any>[];
  examples: Record<string, any>[];
  answers: string[];
  begins: boolean;
}

export interface StageProps {
  view: string;
  plotly: string;
  picture: string;
  texts: Record<string, Record<string, string>>;
}

export interface FigureProps {
  plotly: string;
  main: boolean;
}

export interface ChangePanelProps {
  controls: Record<string, any>[];
  across: boolean;
  pictures: Record<string, string>;
}

export interface LabLink {
  slug: string;
  path: string;
  short: Record<string, string>;
  year: number;
}

export interface LabGroup {
  name: Record<string, string>;
  labs: LabLink[];
}

export interface CurrentLab {
  slug: string;
  title: Record<string, string>;
  short: Record<string, string>;
  paper: string;
  authors: string;
  year: number;
  arxiv: string;
}

export interface StepProps {
  title: Record<string, string>;
  question: Record<string, string>;
  guess: Record<string, string> | null;
  say: Record<string, string>;
  query: string;
  view: Record<string, any>;
  panel: string;
  figure: string;
}

export interface NetworkPart {
  name: Record<string, string>;
  panel: string;
  view: Record<string, any>;
}

export interface NextLab {
  path: string;
  short: Record<string, string>;
}

export interface LabBefore {
  path: string;
  steps: number;
}

export interface ShellProps {
  site: Record<string, Record<string, string>>;
  words: Record<string, Record<string, string>>;
  grammar: [Record<string, string>, Record<string, string>][];
  grammar_in_full: [Record<string, string>, Record<string, string>][];
  years: LabGroup[];
  first: string | null;
  lecture: string | null;
  compare: string | null;
  at: string;
  here: CurrentLab | null;
  steps: StepProps[];
  network: NetworkPart[][];
  onward: NextLab | null;
  plotly: string;
  before: LabBefore | null;
}
