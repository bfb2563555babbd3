// Starts the program of the playground, which is compressed in the page. The policy of the page allows this script and that one, by their
// hashes, and no other; and a worker of the text of that one.

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
