// deno-lint-ignore-file no-explicit-any -- none of these ships types.
// What scripts find on a page beside what every browser has.

interface Window {
  /** Plotly under a name of our own. */
  tfePlotly?: any;
  Plotly?: any;
  /** A module of ours, by its address. */
  tfeLoad?: (address: string) => Promise<any>;
  /** What Gradio writes into its page. */
  gradio_config?: any;
  /** bertviz's own page (frames/bertviz.js). */
  requirejs?: any;
  bertviz?: any;
  bertviz_params?: any;
  jQuery?: any;
  d3?: any;
}

interface Navigator {
  keyboard?: { getLayoutMap?: () => Promise<Map<string, string>> };
}
