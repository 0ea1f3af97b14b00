import { readFileSync } from 'node:fs'
import { picture } from '../../engine/readers/picture.js'

const HARBOUR = `# Harbour

Visitors moor at the eastern quay. The harbour was built in 1899.

## Fees

Mooring costs nine crowns a night. Water is included.
`

const ON_CALL = `# On call

In August, Ida Keller is on call. In September, Jonas Berg is on call. Ida Keller leads Project Falcon.

## Backup

There is a backup plan: a backup is made every night, and its restore is tested on the first Monday of every month.
We decided about backups that they are kept for a year.

## Ferry

The ferry leaves at nine in the morning.
`

const FALCON = `# Project Falcon

Project Falcon depends on Project Heron. Project Heron is maintained by Ida Keller. Falcon v2 replaces Falcon v1.

## Retention policy

The retention policy of Project Falcon keeps traces for thirty days. Answer traces are kept for thirty days.
`

const GAUGES = `# Gauges

The northern gauge measures the tide to one millimetre. The southern gauge measures the tide to five millimetres.

## Install

To install it, run the program "setup". The shop opens at nine in the morning; on Sundays it stays closed.
`

/** An image of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

const DOCUMENTS = {
  'guide.md': '---\nlanguage: en\n---\n# Guide\n\nThe guide says where everything is.\n',
  'guide/harbour.md': HARBOUR,
  'handbook/on-call.md': ON_CALL,
  'projects/falcon.md': FALCON,
  'reports/report.md': GAUGES,
  'prices.html':
    '<h1>Prices</h1><p>Of the harbour.</p><table><tr><th>berth</th><th>euro</th></tr><tr><td>small</td><td>3</td></tr><tr><td>large</td><td>5</td></tr></table>',
  'figure.html': `<h1>Figure</h1><p>The gauge, drawn.</p><img alt="gauge" src="data:image/png;base64,${picture(300, 200).toString('base64')}">`,
  'drafts/draft-of-may.md': '# Draft\n\nNobody has read this yet.\n',
}

const QUESTIONS = `questions:
  - id: price
    question: What does mooring cost a night?
    expect: { document: guide/harbour.md, heading: [Fees], quote: nine crowns a night }
`

const CONTROLS = '- text-input: { label: City, variable: city, required: false, max_length: 48 }\n'
const VARIABLES =
  '- { name: city, valueType: string, default: Oslo }\n- { name: tags, valueType: "array[string]", default: [] }\n'

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/docs/${name}`, import.meta.url))
}

/** The folders of the user; examples run in `work`. */
export const FILES: Readonly<Record<string, string | Uint8Array>> = {
  ...Object.fromEntries(
    ['corpus', 'notes', 'work/docs', 'work/specs'].flatMap((folder) =>
      Object.entries(DOCUMENTS).map(([name, text]) => [`${folder}/${name}`, text]),
    ),
  ),
  'work/note.md': '# Note\n\nRemember the tide.\n',
  'work/plan.md': '# Plan\n\nRead everything.\n',
  'work/notes.txt': 'Good morning.\n',
  'work/question.txt': 'Who is on call in August?\n',
  'work/questions.txt': 'When does the shop open?\nWho is on call in August?\n',
  'work/question.json': '{}',
  'work/broken.pdf': '%PDF-1.4 of no pages',
  'work/report.pdf': fixture('fake-memo.pdf'),
  'work/report.docx': fixture('contains-pictures.docx'),
  'work/figures.xlsx': fixture('stanley-cups.xlsx'),
  'work/golden.yaml': QUESTIONS,
  'work/golden.jsonl': '{"question":"Who is on call in August?"}\n',
  'work/controls.yaml': CONTROLS,
  'work/variables.yaml': VARIABLES,
  'work/words.txt': 'bother\n',
  'work/guide.json': '{"description":"answers from the handbook"}',
  'work/handbook.json': '{"description":"answers from the handbook"}',
  'work/photo.jpg': Buffer.from(PNG, 'base64'),
  'work/call.mp3': Buffer.from('ID3(what was said)'),
}

/** Desktop programs in examples, and their output. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  pbpaste: "printf '# Pasted\\n\\nFrom the clipboard.\\n'",
  arecord: "printf 'RIFF\\044\\000\\000\\000WAVEfmt '",
  import: `printf ${PNG} | base64 -d`,
  dot: 'cat',
  // Plays anything.
  mpv: 'exit 0',
  // Requires only JSON.
  jq: `exec '${process.execPath}' -e 'process.stdin.toArray().then((all) => Buffer.concat(all).toString().trim().split("\\n").map(JSON.parse))'`,
}
