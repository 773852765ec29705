
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
  var find = byId("find"), only = byId("only"), count = byId("count");
  var heads = Array.from(table.tHead.rows[0].cells);
  var sorted = { key: "", down: false };

  var words = original.map(function (row) { return row.cells[0].textContent.toLowerCase(); });

  function filter() {
    var wanted = find.value.trim().toLowerCase(), seen = 0;
    original.forEach(function (row, n) {
      var fits = words[n].indexOf(wanted) >= 0 && !(only.checked && !row.classList.contains("failed"));
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
      head.setAttribute("aria-sort", n !== at ? "none" : sorted.down ? "descending" : "ascending");
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
    if (only.checked) { state.set("failing", "1"); }
    if (sorted.key) { state.set("sort", sorted.key + (sorted.down ? "-down" : "")); }
    history.replaceState(null, "", "#" + state.toString());
  }

  function recall() {
    var hash = location.hash.slice(1);
    if (byId(hash)) { reveal(hash); return; }
    var state = new URLSearchParams(hash);
    var key = state.get("sort") || "";
    find.value = state.get("find") || "";
    only.checked = state.get("failing") === "1";
    sorted = { key: key.replace(/-down$/, ""), down: /-down$/.test(key) };
    filter();
    sort();
  }

  heads.forEach(function (head) {
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
  only.addEventListener("change", function () { filter(); remember(); });
  byId("tools").addEventListener("submit", function (event) { event.preventDefault(); });
  byId("tools").hidden = false;
  window.addEventListener("hashchange", recall);
  filter();
  sort();
  recall();
})();
