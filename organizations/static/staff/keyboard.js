// What answers to a click answers to the keyboard too: menus and switches that are no links or buttons become buttons with a
// name, a menu that opens takes the focus, arrows move in it, Escape closes it and gives the focus back.
(() => {
  "use strict";

  const CLICKED = "a[x-on\\:click]:not([href]), span[x-on\\:click], div[x-on\\:click], h2[x-on\\:click], h3[x-on\\:click]";
  const REACHED = "a[href], button, input, select, textarea, summary, [tabindex]";
  const NAMES = {
    chevron_right: "Show more", local_hospital: "Overview", search: "Search", close: "Close", dock_to_right: "Side bar", expand_more: "Show more", menu: "Menu",
    more_horiz: "More actions", more_vert: "More actions", unfold_more: "Show more", visibility: "Show the password",
    visibility_off: "Hide the password",
  };
  let opened = null; // the menu that is open, and what opened it

  const isShown = (element) => element.offsetParent !== null || element.getClientRects().length > 0;
  const shownMenus = () => new Set([...document.querySelectorAll("[x-show]")].filter(isShown));
  const reachable = (menu) => [...menu.querySelectorAll(REACHED)].filter((one) => isShown(one) && one.tabIndex >= 0);

  function nameOf(element) {
    const copy = element.cloneNode(true);
    const icons = [...copy.querySelectorAll(".material-symbols-outlined")];
    const icon = (element.matches(".material-symbols-outlined") ? element : icons[0])?.textContent.trim() ?? "";
    icons.forEach((one) => one.remove());
    const text = element.matches(".material-symbols-outlined") ? "" : copy.textContent.trim();
    return text || NAMES[icon] || icon.replaceAll("_", " ") || "Menu";
  }

  function prepare() {
    for (const element of document.querySelectorAll(CLICKED)) {
      if (element.dataset.keyboard || element.id === "changelist-filter-close" || element.querySelector(REACHED)) continue;
      element.dataset.keyboard = "yes";
      element.setAttribute("role", "button");
      element.tabIndex = 0;
      if (!element.hasAttribute("aria-label")) element.setAttribute("aria-label", nameOf(element));
    }
    for (const element of document.querySelectorAll("a[href]:not([aria-label]), button:not([aria-label])")) {
      const icon = element.querySelector(".material-symbols-outlined");
      if (icon && element.textContent.trim() === icon.textContent.trim()) element.setAttribute("aria-label", nameOf(element));
    }
    document.querySelectorAll(".material-symbols-outlined:not([data-keyboard])").forEach((icon) => {
      icon.setAttribute("aria-hidden", "true");
    });
    document.querySelectorAll("[data-simplebar]").forEach((box, number) => {
      const name = `${box.querySelector("table") ? "Table" : "Pages"} ${number + 1}`;
      box.dataset.simplebarAriaLabel = name; // read when the scroll box is made, after this: no two of them ever share a name
      box.querySelector(".simplebar-content-wrapper")?.setAttribute("aria-label", name);
    });
  }

  function open(element) {
    const before = shownMenus();
    element.click();
    setTimeout(() => {
      const menu = [...shownMenus()].find((one) => !before.has(one) && reachable(one).length);
      element.setAttribute("aria-expanded", String(Boolean(menu)));
      if (!menu) return;
      prepare();
      opened = { menu, by: element };
      reachable(menu)[0].focus();
    }, 120);
  }

  function close() {
    const { by } = opened;
    opened = null;
    document.body.click(); // menus close on a click beside them
    by.setAttribute("aria-expanded", "false");
    by.focus();
  }

  function move(step) {
    const places = reachable(opened.menu);
    const next = (places.indexOf(document.activeElement) + step + places.length) % places.length;
    places[next].focus();
  }

  document.addEventListener("keydown", (event) => {
    if (opened && !isShown(opened.menu)) opened = null;
    const target = event.target;
    if (opened && event.key === "Escape") {
      event.preventDefault();
      close();
    } else if (opened && opened.menu.contains(target) && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (target.dataset?.keyboard && ["Enter", " "].includes(event.key)) {
      event.preventDefault();
      open(target);
    }
  }, true);

  document.addEventListener("alpine:initialized", prepare);
  document.addEventListener("DOMContentLoaded", () => {
    prepare();
    let waits = false;
    new MutationObserver(() => {
      if (waits) return;
      waits = true;
      setTimeout(() => { waits = false; prepare(); }, 50);
    }).observe(document.body, { childList: true, subtree: true });
  });
})();
