import { ENVIRONMENT } from './environment.js'

const EXIT_CODES: [number, string][] = [
  [0, 'ok'],
  [1, 'failed, or nothing matched (`fs grep` only)'],
  [2, 'usage or invalid input'],
  [3, 'partly done'],
  [4, 'not authenticated or not allowed'],
  [5, 'not found'],
  [6, 'conflict'],
  [7, 'over a limit'],
  [8, 'unreachable or unavailable; trying again may help'],
  [9, 'not configured here'],
  [10, 'a requested check did not hold'],
  [130, 'interrupted'],
  [143, 'terminated'],
]

const FORMATS = [
  'table   for people: short ids, relative times, cut to the width of the terminal',
  'json    one JSON value: the object of the API, or an array of them',
  'jsonl   one JSON object a line, as pages arrive; events for query, ingest and jobs watch',
  'tsv     fields separated by tabs, no header in a pipe; the default where stdout is no terminal',
  '        \\t, \\n and \\\\ stand for tab, line end and backslash; a text that a spreadsheet would run as a formula',
  '        (= + - @ at its beginning) has a backslash before it, which xargs and read take away again',
  '',
  'Results go to stdout, everything else to stderr. With json or jsonl a failure is one JSON object on stderr.',
]

const IDS = [
  'A space is named by its slug, its id, or # and the last 8 hex digits of its id.',
  'Everything else is named by its id or # and its last 8 hex digits, when a table showed it lately.',
  "Quote the # in a shell: ks traces show '#9f31c2aa'",
]

/** Topics of `ks help TOPIC` that are no commands. */
export const HELP_TOPICS: ReadonlyMap<string, () => string> = new Map([
  ['exit-codes', () => EXIT_CODES.map(([code, what]) => `${String(code).padStart(3)}  ${what}`).join('\n')],
  ['environment', () => ENVIRONMENT.map(([name, what]) => `${name.padEnd(15)}  ${what}`).join('\n')],
  ['formats', () => FORMATS.join('\n')],
  ['ids', () => IDS.join('\n')],
])
