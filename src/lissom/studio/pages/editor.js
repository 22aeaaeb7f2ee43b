// The editor of a description: CodeMirror with YAML, undo, search, and the validator's words at their lines.
import * as cm from "/assets/vendor/editor.js";

const COLORS = cm.HighlightStyle.define([
  { tag: cm.tags.propertyName, color: "var(--accent)" },
  { tag: cm.tags.definition(cm.tags.propertyName), color: "var(--accent)" },
  { tag: cm.tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: cm.tags.string, color: "var(--good)" },
  { tag: cm.tags.number, color: "var(--warn)" },
]);
const LOOK = cm.EditorView.theme({
  "&": { backgroundColor: "var(--card)", color: "var(--ink)", fontSize: "13px" },
  ".cm-gutters": { backgroundColor: "var(--back)", color: "var(--soft)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)" },
});

export class Editor {
  constructor(parent, label, onChange) {
    const nonce = document.querySelector("meta[name=style-nonce]").content;
    const keys = [...cm.defaultKeymap, ...cm.historyKeymap, ...cm.searchKeymap];
    const listener = cm.EditorView.updateListener.of((update) => { if (update.docChanged) onChange(this.text); });
    this.extensions = [
      cm.EditorView.cspNonce.of(nonce), cm.lineNumbers(), cm.history(), cm.drawSelection(), cm.bracketMatching(),
      cm.highlightActiveLine(), cm.yaml(), cm.syntaxHighlighting(COLORS), cm.lintGutter(), LOOK, listener,
      cm.keymap.of(keys), cm.EditorState.tabSize.of(2), cm.EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    ];
    this.view = new cm.EditorView({ parent, state: this.state("") });
  }
  state(text) {
    return cm.EditorState.create({ doc: text, extensions: this.extensions });
  }
  get text() {
    return this.view.state.doc.toString();
  }
  // Another file: what was typed before cannot be undone into it.
  open(text) {
    this.view.setState(this.state(text));
  }
  apply(edit) {
    if (!edit || (edit.from === edit.to && edit.insert === "")) return;
    this.view.dispatch({ changes: edit, userEvent: "input.form" });
  }
  undo() {
    cm.undo(this.view);
  }
  redo() {
    cm.redo(this.view);
  }
  mark(errors) {
    const { doc } = this.view.state;
    const marks = errors.filter(({ line }) => line).map(({ line, field, message }) => {
      const place = doc.line(Math.min(line, doc.lines));
      const from = place.from + place.text.search(/\S|$/);
      return { from, to: Math.max(place.to, from), severity: "error", message: field ? `${field}: ${message}` : message };
    });
    this.view.dispatch(cm.setDiagnostics(this.view.state, marks));
  }
  goToLine(line) {
    const { doc } = this.view.state;
    const place = doc.line(Math.min(line, doc.lines));
    this.view.dispatch({ selection: { anchor: place.from }, scrollIntoView: true });
    this.view.focus();
  }
}
