import { connect } from 'node:net';

/** Sends text as it is, and gives what comes until the other side hangs up. */
export function rawAnswer(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text, 'latin1'));
    socket.on('data', (data) => (answer += String(data)));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
