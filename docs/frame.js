// The page of a player in a frame of the site: the frame is as high as the page, so that nothing in it scrolls by itself,
// and the page has the theme of the site.
const frames = () => [...document.querySelectorAll("iframe.player")];
const tellTheme = () => frames().forEach((frame) => frame.contentWindow.postMessage({ theme: document.body.dataset.theme }, "*"));

addEventListener("message", ({ source, data }) => {
  const frame = frames().find((each) => each.contentWindow === source);
  if (frame && data?.height > 0) {
    frame.style.height = `${Math.ceil(data.height) + frame.offsetHeight - frame.clientHeight}px`;
    tellTheme();
  }
});
addEventListener("DOMContentLoaded", () => new MutationObserver(tellTheme).observe(document.body, { attributeFilter: ["data-theme"] }));
