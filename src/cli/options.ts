// Owns options that several commands share, so that they mean the same everywhere.

export const jsonOption = { type: 'boolean', default: false, describe: 'print JSON, for programs' } as const;

export const outOption = {
  type: 'string',
  describe: 'folder for the report (default: reports/<scenario>/<seed>)',
  requiresArg: true,
} as const;

export const reportOption = {
  type: 'boolean',
  default: true,
  describe: 'write a report; --no-report leaves it out',
} as const;

export const topOption = {
  type: 'number',
  default: 100,
  describe: 'how many contracts the outcome lists; totals cover all',
  requiresArg: true,
} as const;

export const colorOption = {
  type: 'boolean',
  describe: 'colour (default: on a terminal, unless NO_COLOR is set)',
} as const;
