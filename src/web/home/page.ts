// Owns the page at /: what is on it. Leaves its looks to style.ts, its movement to script.ts.

export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Weir</title>
<link rel="icon" href="/home.svg" type="image/svg+xml">
<link rel="stylesheet" href="/home.css">
<script src="/home.js" type="module"></script>
</head>
<body>
<header>
<h1>Weir</h1>
<p id="status" role="status">Connecting…</p>
</header>
<main>
<section aria-labelledby="clock-title">
<h2 id="clock-title">Cycle</h2>
<p class="cycle"><output id="cycle">–</output></p>
<progress id="progress" max="1" value="0" aria-label="How far the cycle has come"></progress>
<p class="small"><span id="cycle-ms">–</span> ms a cycle</p>
</section>
<section aria-labelledby="active-title">
<h2 id="active-title">Most active machines</h2>
<form id="choice">
<label for="cycles">Transitions within the last</label>
<select id="cycles" name="cycles">
<option value="60" selected>60 cycles</option>
<option value="300">300 cycles</option>
<option value="1200">1,200 cycles</option>
<option value="3600">3,600 cycles</option>
</select>
</form>
<table>
<thead><tr><th scope="col">Machine</th><th scope="col">Transitions</th><th scope="col">Cycles ago</th><th scope="col">Contracts</th></tr></thead>
<tbody id="machines"></tbody>
</table>
<p id="empty" hidden>No public machine has moved.</p>
</section>
<section aria-labelledby="node-title">
<h2 id="node-title">Node</h2>
<dl>
<dt>Version</dt><dd id="version">–</dd>
<dt>Key</dt><dd id="fingerprint">–</dd>
</dl>
<nav aria-label="API">
<a href="/api/endpoints">Routes</a>
<a href="/api/openapi.json">OpenAPI</a>
<a href="/metrics">Metrics</a>
</nav>
</section>
</main>
<noscript>The figures on this page need JavaScript; GET /api/chain/active has them, too.</noscript>
</body>
</html>
`;
