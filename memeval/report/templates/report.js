
"use strict";
(function () {
  var byId = function (id) { return document.getElementById(id); };
  var table = byId("table");

  function reveal(id) {
    var target = byId(id);
    if (!target) { return; }
    target.hidden = false;
    for (var up = target; up; up = up.parentElement) {
      if (up.tagName === "DETAILS") { up.open = true; }
    }
    target.scrollIntoView({ block: "start" });
    var summary = target.querySelector("summary, a");
    if (summary) { summary.focus({ preventScroll: true }); }
  }

  function select(node) {
    var range = document.createRange();
    range.selectNodeContents(node);
    var selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }

  document.querySelectorAll("button.copy").forEach(function (button) {
    var source = button.parentElement.querySelector("pre");
    button.hidden = false;
    button.addEventListener("click", function () {
      var chosen = function () {
        select(source);
        button.textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C";
      };
      if (!navigator.clipboard) { chosen(); return; }
      navigator.clipboard.writeText(source.textContent).then(function () {
        button.textContent = "Copied";
      }, chosen);
    });
  });

  if (!table) { return; }
  var body = table.tBodies[0];
  var original = Array.from(body.rows);
  var find = byId("find"), count = byId("count");
  var picks = ["outcome", "cause", "tag"].map(byId);
  var heads = Array.from(table.tHead.rows[0].cells);
  var sorted = { key: "", down: false };

  // What each row has of each of the lists: its outcome (with what all failing share), cause, tags.
  var traits = original.map(function (row) {
    var outcome = row.querySelector(".state").lastChild.textContent.trim();
    return {
      words: row.cells[0].textContent.toLowerCase(),
      outcome: row.classList.contains("failed") ? ["failing", outcome] : [outcome],
      cause: row.dataset.cause ? [row.dataset.cause] : [],
      tag: Array.from(row.querySelectorAll(".tags .name"), function (tag) { return tag.textContent; })
    };
  });

  picks.forEach(function (pick) {
    var seen = new Set();
    traits.forEach(function (trait) { trait[pick.id].forEach(function (one) { seen.add(one); }); });
    seen.delete("failing");
    Array.from(seen).sort().forEach(function (one) { pick.append(new Option(one, one)); });
    pick.parentElement.hidden = seen.size === 0;
    pick.addEventListener("change", function () { filter(); remember(); });
  });

  function filter() {
    var wanted = find.value.trim().toLowerCase(), seen = 0;
    original.forEach(function (row, n) {
      var fits = traits[n].words.indexOf(wanted) >= 0 && picks.every(function (pick) {
        return !pick.value || traits[n][pick.id].indexOf(pick.value) >= 0;
      });
      row.hidden = !fits;
      seen += fits ? 1 : 0;
    });
    count.textContent = seen + " of " + original.length + " shown";
  }

  function compare(a, b) {
    if (a === b) { return 0; }
    if (a === "" || b === "") { return a === "" ? 1 : -1; }
    var x = Number(a.replace(/,/g, "")), y = Number(b.replace(/,/g, ""));
    var both = !isNaN(x) && !isNaN(y);
    var order = both ? x - y : a < b ? -1 : 1;
    return sorted.down ? -order : order;
  }

  function sort() {
    var at = heads.findIndex(function (head) { return head.dataset.key === sorted.key; });
    heads.forEach(function (head, n) {
      if (head.dataset.key) head.setAttribute("aria-sort", n !== at ? "none" : sorted.down ? "descending" : "ascending");
    });
    var rows = original.slice();
    if (at >= 0) {
      rows.sort(function (a, b) { return compare(a.cells[at].textContent, b.cells[at].textContent); });
    }
    body.append.apply(body, rows);
  }

  function remember() {
    var state = new URLSearchParams();
    if (find.value) { state.set("find", find.value); }
    picks.forEach(function (pick) { if (pick.value) { state.set(pick.id, pick.value); } });
    if (sorted.key) { state.set("sort", sorted.key + (sorted.down ? "-down" : "")); }
    history.replaceState(null, "", "#" + state.toString());
  }

  function recall() {
    var hash = location.hash.slice(1);
    // A probe that passed has a row only; a link to it may be older than that.
    var place = [hash, "row-" + hash].find(byId);
    if (place) { reveal(place); return; }
    var state = new URLSearchParams(hash);
    var key = state.get("sort") || "";
    find.value = state.get("find") || "";
    picks.forEach(function (pick) {
      pick.value = state.get(pick.id) || "";
      if (pick.selectedIndex < 0) { pick.value = ""; }
    });
    sorted = { key: key.replace(/-down$/, ""), down: /-down$/.test(key) };
    filter();
    sort();
  }

  heads.filter(function (head) { return head.dataset.key; }).forEach(function (head) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.append(button);
    button.addEventListener("click", function () {
      var same = sorted.key === head.dataset.key;
      if (same && sorted.down) {
        sorted = { key: "", down: false };
      } else {
        sorted = { key: head.dataset.key, down: same };
      }
      sort();
      remember();
    });
  });

  find.addEventListener("input", function () { filter(); remember(); });
  byId("tools").addEventListener("submit", function (event) { event.preventDefault(); });
  byId("tools").hidden = false;
  window.addEventListener("hashchange", recall);
  filter();
  sort();
  recall();
})();
