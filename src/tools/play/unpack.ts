// Decompresses and starts the playground program. The page's policy allows only these two scripts, by hash, and a worker made from the
// program's text.

async function unpack(): Promise<void> {
  const letters = atob(document.getElementById('program')?.textContent ?? '');
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const script = document.createElement('script');
  script.type = 'module';
  script.id = 'unpacked';
  script.textContent = await new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')),
  ).text();
  document.body.append(script);
}

void unpack();
