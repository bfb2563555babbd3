// Verifies rows, or an export, that a test has as a whole.

import type { Verification } from '../../../src/core/record/verification.js';
import { ExportVerifier, type VerifyExportOptions } from '../../../src/core/record/verify-export.js';
import { RecordVerifier, type VerifyOptions } from '../../../src/core/record/verify-record.js';

/** As in `seq 5 line 5: proof`, or `holds`. */
export function verdictOf({ first_broken: broken }: Verification): string {
  if (broken === null) return 'holds';
  return `${broken.seq === undefined ? '' : `seq ${broken.seq} `}line ${broken.line}: ${broken.check}`;
}

export function verifyRows(rows: Iterable<unknown>, options: VerifyOptions = {}): Verification {
  const verifier = new RecordVerifier(options);
  let line = 0;
  for (const row of rows) {
    line += 1;
    if (!verifier.row(row, line)) break;
  }
  return verifier.end();
}

export function verifyExport(text: string | Uint8Array, options: VerifyExportOptions = {}): Verification {
  const verifier = new ExportVerifier(options);
  verifier.bytes(Buffer.from(text));
  return verifier.end();
}
