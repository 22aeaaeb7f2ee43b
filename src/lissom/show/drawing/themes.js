// Colours of the picture, on light and on dark ground. The curves' colours are those of Okabe and Ito.

export const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c8c8c"];
export const LINK_COLORS = ["#2f8fd0", "#f0a818", "#1fb58b", "#d98cb8", "#e8703a", "#6cc3f2"];
export const THEMES = {
  light: {
    back: "#f4f6f8", ink: "#1b2430", soft: "#5d6b7a", grid: "#9aa7b5", joint: "#6b7889", rigid: "#b4bec9",
    ghost: "#5d6b7a", trail: "#b8500a", mass: "#4a4e57", payload: "#e0a030", shade: 0.16, axes: ["#d62f2f", "#22913a", "#2f62d6"], gravity: "#8250c4",
  },
  dark: {
    back: "#14181e", ink: "#e6ebf1", soft: "#93a1b1", grid: "#5b6877", joint: "#8e9bac", rigid: "#a3afbc",
    ghost: "#aab6c3", trail: "#ffa04d", mass: "#7d8490", payload: "#e0a030", shade: 0.42, axes: ["#ff6b63", "#4fcf6a", "#7ba6ff"], gravity: "#b792f0",
  },
};

export const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
export const seriesColor = (s) => PALETTE[s % PALETTE.length];
