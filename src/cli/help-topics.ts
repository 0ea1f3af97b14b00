import { ENVIRONMENT } from './environment.js'

const EXIT_CODE_DESCRIPTIONS: [number, string][] = [
  [0, 'ok'],
  [1, 'failed, or nothing matched (`fs grep`, `fs sh`)'],
  [2, 'usage or invalid input'],
  [3, 'partly failed'],
  [4, 'not authenticated or not allowed'],
  [5, 'not found'],
  [6, 'conflict'],
  [7, 'over a limit'],
  [8, 'unreachable or unavailable; a retry may help'],
  [9, 'not configured here'],
  [10, 'a requested check failed'],
  [130, 'interrupted'],
  [143, 'terminated'],
]

const FORMAT_LINES = [
  'table   for people: short ids, relative times, cut to the terminal width',
  'json    one JSON value: the object of the API, or an array of them',
  'jsonl   one JSON object a line, written as pages arrive; events for query, ingest and jobs watch',
  'tsv     fields separated by tabs, no header in a pipe; the default if stdout is not a terminal',
  '        \\t, \\n and \\\\ mean tab, line end and backslash; a text that a spreadsheet would run as a formula',
  '        (= + - @ at its start) is escaped with a backslash, which xargs and read remove',
  '',
  'Results go to stdout, everything else to stderr. With json or jsonl an error is one JSON object on stderr.',
  '`ks COMMAND --json-schema` prints the JSON Schema of the output with json; its $defs have CommandError, the error.',
]

const ID_LINES = [
  'Spaces: slug, id, or # and the last 8 hex digits of the id.',
  'Others: id, or # and its last 8 hex digits if a table showed it recently.',
  "Quote the # in a shell: ks traces show '#9f31c2aa'",
]

/** Topics of `ks help TOPIC` that are not commands. */
export const HELP_TOPICS: ReadonlyMap<string, () => string> = new Map([
  [
    'exit-codes',
    () => EXIT_CODE_DESCRIPTIONS.map(([code, description]) => `${String(code).padStart(3)}  ${description}`).join('\n'),
  ],
  ['environment', () => ENVIRONMENT.map(([name, description]) => `${name.padEnd(15)}  ${description}`).join('\n')],
  ['formats', () => FORMAT_LINES.join('\n')],
  ['ids', () => ID_LINES.join('\n')],
])
