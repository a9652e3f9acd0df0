// The switch between light and dark. In a page of the site the theme is that page's, which makes its frame as high as this one.

/** Listen to the switch and to a page around this one. */
export function themeSwitch() {
  const { style } = document.documentElement;
  const dark = () => (style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  document.getElementById("theme").addEventListener("click", () => {
    style.colorScheme = dark() ? "light" : "dark";
  });
  if (parent !== window) {
    addEventListener("message", ({ data }) => {
      style.colorScheme = { light: "light", dark: "dark" }[data?.theme] ?? "";
    });
    new ResizeObserver(() => parent.postMessage({ height: document.body.offsetHeight }, "*")).observe(document.body);
  }
}
