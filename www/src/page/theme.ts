/*
 * The theme that was chosen is the root's `data-theme`; without one the system's holds. A browser told to keep nothing
 * throws when it is asked to: there the choice lasts as long as the page.
 */

const KEY = "theme";

/** Chooses a theme, and keeps it for the next visit. */
export function chooseTheme(theme: "light" | "dark"): void {
  document.documentElement.dataset["theme"] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The page holds it.
  }
}

/** Brings back the theme that was kept. */
export function recallTheme(): void {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept !== null) document.documentElement.dataset["theme"] = kept;
  } catch {
    // Nothing was kept.
  }
}

/** Whether a theme was chosen. */
export function isThemeChosen(): boolean {
  return document.documentElement.dataset["theme"] !== undefined;
}

/** Whether the page is dark: as chosen, or as the system asks. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}
