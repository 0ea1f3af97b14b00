/**
 * `npm run pictures`: makes the pictures of the README from real runs: a session in a terminal (SVG) and the console
 * (PNG, if Chromium is installed). A release runs it again.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { ROOT } from './build.js'
import { renderTerminal } from './terminal-svg.js'

const COLUMNS = 88
const FOLDER = join(ROOT, 'pictures')
const CHROMIUM = '/usr/bin/chromium'
const QUESTION = 'When is the restore tested?'

const DOCUMENTS = {
  'operations/backup.md': `# Backup

## Schedule

A snapshot is taken every night at two. Snapshots are kept for ninety days.

## Testing

The restore is tested on the first Monday of every month. A failed test is a page to the owner of the service.
`,
  'operations/on-call.md': `# On call

In August, Ida Keller is on call. In September, Jonas Berg is on call.

## Escalation

After fifteen minutes without an answer, the page goes to the team lead.
`,
  'travel/expenses.md': `# Travel expenses

Claims are filed within thirty days. Trains are booked in second class; a flight needs the approval of the team lead.
`,
}

const SESSION = [
  ['ingest', 'handbook', '--space', 'handbook', '--create', '--wait'],
  ['query', QUESTION, '--space', 'handbook'],
  ['query', 'Who is on call in August?', '--space', 'handbook'],
  ['docs', '--space', 'handbook'],
]

const home = mkdtempSync(join(tmpdir(), 'ks-pictures-'))
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  LANG: 'C.UTF-8',
  COLUMNS: String(COLUMNS),
  KS_DATA_DIR: join(home, 'data'),
  KS_CONFIG_DIR: join(home, 'config'),
  KS_STATE_DIR: join(home, 'state'),
  KS_CACHE_DIR: join(home, 'cache'),
  KS_DAEMON_LISTEN: '127.0.0.1:0',
}

/** @param {string[]} args @param {string[]} [more] flags that the picture does not show */
async function ks(args, more = []) {
  const program = [join(ROOT, 'bin', 'ks.js'), ...args, ...more]
  const { stdout, stderr, exitCode } = await execa(process.execPath, program, {
    cwd: home,
    env,
    extendEnv: false,
    reject: false,
  })
  if (exitCode !== 0) throw new Error(`ks ${args.join(' ')}: exit ${exitCode}\n${stderr}`)
  return stdout
}

try {
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    mkdirSync(dirname(join(home, 'handbook', name)), { recursive: true })
    writeFileSync(join(home, 'handbook', name), text)
  }
  const lines = []
  for (const args of SESSION) {
    const typed = args.map((word) => (/[ ?]/.test(word) ? `"${word}"` : word)).join(' ')
    lines.push(
      `\u001b[32m$\u001b[0m \u001b[1mks ${typed}\u001b[0m`,
      await ks(args, ['--format', 'table', '--color']),
      '',
    )
  }
  const text = lines.join('\n').trimEnd().split('\n').map(wrapLine).join('\n')
  writeFileSync(join(FOLDER, 'terminal.svg'), renderTerminal(text, { columns: COLUMNS, title: 'ks in a terminal' }))
  if (existsSync(CHROMIUM)) await photographConsole()
  else process.stderr.write(`the picture of the console was not made: ${CHROMIUM} is not installed\n`)
} finally {
  await ks(['daemon', 'stop']).catch(() => undefined)
  rmSync(home, { recursive: true, force: true })
}

/** Breaks a line of plain text at spaces, as the command does at a terminal. */
function wrapLine(line) {
  const rows = ['']
  for (const word of line.split(/(?<= )/)) {
    if (`${rows.at(-1)}${word}`.trimEnd().length > COLUMNS && !line.includes('\u001b')) rows.push('')
    rows[rows.length - 1] += word
  }
  return rows.map((row) => row.trimEnd()).join('\n')
}

/** Asks a question in the console and takes a picture of its answer. */
async function photographConsole() {
  const { chromium } = await import('playwright-core')
  const url = (await ks(['console', '--no-open'])).trim()
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 720 }, reducedMotion: 'reduce' })
    page.setDefaultTimeout(120_000)
    await page.goto(url)
    await page.getByRole('link', { name: 'Ask', exact: true }).last().click()
    await page.getByLabel('Question').fill(QUESTION)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Passage 1' }).first().waitFor()
    await page.screenshot({ path: join(FOLDER, 'console.png') })
  } finally {
    await browser.close()
  }
}
