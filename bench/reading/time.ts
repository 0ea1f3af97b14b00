import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { globSync } from 'tinyglobby'
import { ContainedFileCollector } from '../../src/engine/readers/inside/contained-files.js'
import { DEFAULT_LIMITS } from '../../src/engine/readers/limits.js'
import { DEFAULT_OCR, OcrBudget } from '../../src/engine/readers/ocr/budget.js'
import type { Parser } from '../../src/engine/readers/parsed.js'
import { ROOT } from '../lib/daemon.js'
import { type Figure, percentile } from '../lib/report.js'
import { numbers, prose } from '../lib/words.js'

const ROUNDS = 21
/** Turns of each before those that count: the compiler works beside the first ones, on the same account. */
const WARM_UP = 10
/** Text formats may cost no more than before. */
const BAR = 1.05
/** Each turn reads a set as often as it takes to last about so long. */
const TURN_MS = 40
const MARKDOWN = 'text/markdown'
const HTML = 'text/html'
const TEXT = 'text/plain'
const MAIL = 'message/rfc822'

interface Sample {
  name: string
  mediaType: string
  files: Buffer[]
  bar: boolean
}

const ocr = new OcrBudget(DEFAULT_OCR)
const random = numbers(13)
const paragraph = () => prose(random, 400)
const times = (count: number, make: (place: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at)).join('')
const linked = () =>
  `See [${prose(random, 20)}](https://a.example/b) and **${prose(random, 15)}**, \`${prose(random, 10)}\`. `

/**
 * Compares the processor time of reading Markdown, text, HTML and mail with that of another built checkout. Both parsers read the
 * same bytes in one process, in turns, and the median ratio of the pairs counts.
 *
 * @param other the root of the other checkout
 * @param folder a folder whose `.md`, `.html` and `.eml` files are read as well
 */
export async function measureTime(other: string, folder?: string): Promise<Figure[]> {
  const samples: Sample[] = [
    {
      name: 'notes of 1 KB',
      ...markdown(Array.from({ length: 100 }, () => `# ${prose(random, 30)}\n\n${paragraph()}\n\n${paragraph()}\n`)),
    },
    { name: 'manuals of 20 KB', ...markdown(Array.from({ length: 5 }, () => times(12, manualSection))) },
    { name: 'a list of 5,000 items', ...markdown([times(5000, () => `- ${prose(random, 30)} **x** y\n`)]), bar: false },
    {
      name: 'a table of 5,000 rows',
      ...markdown([`|a|b|c|\n|-|-|-|\n${times(5000, (at) => `|${at}|${prose(random, 20)}|*x*|\n`)}`]),
      bar: false,
    },
    {
      name: 'texts of 1 KB',
      ...samplesOf(
        TEXT,
        Array.from({ length: 100 }, () => `${prose(random, 30)}\n\n${paragraph()}\n\n${paragraph()}\n`),
      ),
    },
    {
      name: 'plain pages of 10 KB',
      ...samplesOf(
        HTML,
        Array.from({ length: 20 }, () => pageOf(times(20, pageSection))),
      ),
    },
    {
      name: 'pages of 10 KB with menus around',
      ...samplesOf(
        HTML,
        Array.from({ length: 20 }, () => pageOf(`<nav><a href="/">Home</a></nav>${times(20, pageSection)}`)),
      ),
      bar: false,
    },
    {
      name: 'mails of two versions',
      ...mail(Array.from({ length: 50 }, () => mailOf(paragraph(), `<p>${paragraph()}</p>`))),
    },
    { name: 'a mail of 1 MB of text', ...mail([`From: a@b.c\r\n\r\n${times(2500, () => `${paragraph()}\r\n\r\n`)}`]) },
    { name: 'a mail with 5 MB of base64', ...mail([attachment()]) },
    ...(folder === undefined
      ? []
      : [ofFolder(folder, 'md', MARKDOWN), ofFolder(folder, 'html', HTML), ofFolder(folder, 'eml', MAIL)].filter(
          ({ files }) => files.length > 0,
        )),
  ]
  const figures: Figure[] = []
  for (const sample of samples) {
    const [before, now] = await Promise.all([parserOf(other, sample.mediaType), parserOf(ROOT, sample.mediaType)])
    const repeats = Math.max(1, Math.round(TURN_MS / (await turn(before, sample, 1))))
    for (let round = 0; round < WARM_UP; round++)
      for (const parser of [before, now]) await turn(parser, sample, repeats)
    const pairs: [number, number][] = []
    for (let round = 0; round < ROUNDS; round++) {
      const first = await turn(round % 2 === 0 ? before : now, sample, repeats)
      const second = await turn(round % 2 === 0 ? now : before, sample, repeats)
      pairs.push(round % 2 === 0 ? [first, second] : [second, first])
    }
    figures.push(
      {
        name: `${sample.name}, before`,
        value: percentile(
          pairs.map(([ms]) => ms / repeats / sample.files.length),
          0.5,
        ),
        unit: 'ms',
      },
      {
        name: `${sample.name}, now / before`,
        value: percentile(
          pairs.map(([one, another]) => another / one),
          0.5,
        ),
        unit: '',
        ...(sample.bar ? { bar: { atMost: BAR } } : {}),
      },
    )
  }
  return figures
}

async function turn(parser: Parser, { files, mediaType }: Sample, repeats: number): Promise<number> {
  const start = process.cpuUsage()
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const bytes of files) {
      const inside = new ContainedFileCollector('a', DEFAULT_LIMITS)
      const text = () => bytes.toString()
      await parser.parse({ filename: 'a', bytes, mediaType, text, limits: DEFAULT_LIMITS, inside, ocr })
    }
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

async function parserOf(checkout: string, mediaType: string): Promise<Parser> {
  const engine = join(resolve(checkout), 'dist', 'engine')
  const now = join(engine, 'parse', 'registry.js')
  const path = existsSync(now) ? now : join(engine, 'compile', 'parse', 'registry.js')
  const { loadParser }: typeof import('../../src/engine/readers/registry.js') = await import(pathToFileURL(path).href)
  const parser = await loadParser(mediaType)
  if (parser === undefined) throw new Error(`${checkout} does not read ${mediaType}`)
  return parser
}

function markdown(texts: string[]): Omit<Sample, 'name'> {
  return samplesOf(MARKDOWN, texts)
}

function mail(texts: string[]): Omit<Sample, 'name'> {
  return samplesOf(MAIL, texts)
}

function samplesOf(mediaType: string, texts: string[]): Omit<Sample, 'name'> {
  return { mediaType, files: texts.map((text) => Buffer.from(text)), bar: true }
}

function pageOf(body: string): string {
  return `<!doctype html><html lang="en"><head><title>${prose(random, 20)}</title></head><body>${body}</body></html>`
}

function pageSection(): string {
  return `<h2>${prose(random, 20)}</h2><p>${paragraph()} <a href="b.html">${prose(random, 10)}</a></p>`
}

function ofFolder(folder: string, extension: string, mediaType: string): Sample {
  const files = globSync(`**/*.${extension}`, { cwd: folder }).map((name) => readFileSync(join(folder, name)))
  return { name: `${files.length} files .${extension}`, mediaType, files, bar: true }
}

function manualSection(place: number): string {
  const list = times(5, () => `- ${linked()}\n  - ${linked()}\n`)
  const table = times(6, () => `| ${prose(random, 15)} | \`x\` | ${prose(random, 20)} |\n`)
  return `## ${prose(random, 30)} ${place}\n\n${linked()}${paragraph()}\n\n${list}\n| a | b | c |\n|---|---|---|\n${table}\n\`\`\`sh\nnpm test\n\`\`\`\n\n> ${linked()}\n\n`
}

function mailOf(plain: string, html: string): string {
  const part = (type: string, text: string) => `--x\r\nContent-Type: text/${type}; charset=utf-8\r\n\r\n${text}\r\n`
  return `From: a@b.c\r\nSubject: =?utf-8?Q?gr=C3=BCn?=\r\nContent-Type: multipart/alternative; boundary="x"\r\n\r\n${part('plain', plain)}${part('html', html)}--x--\r\n`
}

function attachment(): string {
  const lines = Buffer.from(times(8000, paragraph)).toString('base64').replace(/.{76}/g, '$&\r\n')
  const head = 'Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64'
  return `From: a@b.c\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nhello\r\n--x\r\n${head}\r\n\r\n${lines}\r\n--x--\r\n`
}
