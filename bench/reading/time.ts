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
import { createRandom, makeProse } from '../lib/words.js'

const ROUNDS = 21
/** Turns of each before those that count: the compiler works beside the first ones, on the same account. */
const WARM_UP = 10
/** Text formats may cost no more than before. */
const MAX_RATIO = 1.05
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
  hasBar: boolean
}

const ocr = new OcrBudget(DEFAULT_OCR)
const random = createRandom(13)
const makeParagraph = () => makeProse(random, 400)
const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join('')
const makeLinkedText = () =>
  `See [${makeProse(random, 20)}](https://a.example/b) and **${makeProse(random, 15)}**, \`${makeProse(random, 10)}\`. `

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
      ...createMarkdownSample(
        Array.from({ length: 100 }, () => `# ${makeProse(random, 30)}\n\n${makeParagraph()}\n\n${makeParagraph()}\n`),
      ),
    },
    {
      name: 'manuals of 20 KB',
      ...createMarkdownSample(Array.from({ length: 5 }, () => repeat(12, makeManualSection))),
    },
    {
      name: 'a list of 5,000 items',
      ...createMarkdownSample([repeat(5000, () => `- ${makeProse(random, 30)} **x** y\n`)]),
      hasBar: false,
    },
    {
      name: 'a table of 5,000 rows',
      ...createMarkdownSample([
        `|a|b|c|\n|-|-|-|\n${repeat(5000, (index) => `|${index}|${makeProse(random, 20)}|*x*|\n`)}`,
      ]),
      hasBar: false,
    },
    {
      name: 'texts of 1 KB',
      ...createSample(
        TEXT,
        Array.from({ length: 100 }, () => `${makeProse(random, 30)}\n\n${makeParagraph()}\n\n${makeParagraph()}\n`),
      ),
    },
    {
      name: 'plain pages of 10 KB',
      ...createSample(
        HTML,
        Array.from({ length: 20 }, () => makePage(repeat(20, makePageSection))),
      ),
    },
    {
      name: 'pages of 10 KB with menus around',
      ...createSample(
        HTML,
        Array.from({ length: 20 }, () => makePage(`<nav><a href="/">Home</a></nav>${repeat(20, makePageSection)}`)),
      ),
      hasBar: false,
    },
    {
      name: 'mails of two versions',
      ...createMailSample(Array.from({ length: 50 }, () => makeMail(makeParagraph(), `<p>${makeParagraph()}</p>`))),
    },
    {
      name: 'a mail of 1 MB of text',
      ...createMailSample([`From: a@b.c\r\n\r\n${repeat(2500, () => `${makeParagraph()}\r\n\r\n`)}`]),
    },
    { name: 'a mail with 5 MB of base64', ...createMailSample([makeMailWithAttachment()]) },
    ...(folder === undefined
      ? []
      : [
          loadFolderSample(folder, 'md', MARKDOWN),
          loadFolderSample(folder, 'html', HTML),
          loadFolderSample(folder, 'eml', MAIL),
        ].filter(({ files }) => files.length > 0)),
  ]
  const figures: Figure[] = []
  for (const sample of samples) {
    const [before, now] = await Promise.all([
      loadCheckoutParser(other, sample.mediaType),
      loadCheckoutParser(ROOT, sample.mediaType),
    ])
    const repeats = Math.max(1, Math.round(TURN_MS / (await measureTurn(before, sample, 1))))
    for (let round = 0; round < WARM_UP; round++)
      for (const parser of [before, now]) await measureTurn(parser, sample, repeats)
    const pairs: [number, number][] = []
    for (let round = 0; round < ROUNDS; round++) {
      const first = await measureTurn(round % 2 === 0 ? before : now, sample, repeats)
      const second = await measureTurn(round % 2 === 0 ? now : before, sample, repeats)
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
        ...(sample.hasBar ? { bar: { atMost: MAX_RATIO } } : {}),
      },
    )
  }
  return figures
}

async function measureTurn(parser: Parser, { files, mediaType }: Sample, repeats: number): Promise<number> {
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

async function loadCheckoutParser(checkout: string, mediaType: string): Promise<Parser> {
  const engine = join(resolve(checkout), 'dist', 'engine')
  const now = join(engine, 'parse', 'registry.js')
  const path = existsSync(now) ? now : join(engine, 'compile', 'parse', 'registry.js')
  const { loadParser }: typeof import('../../src/engine/readers/registry.js') = await import(pathToFileURL(path).href)
  const parser = await loadParser(mediaType)
  if (parser === undefined) throw new Error(`${checkout} does not read ${mediaType}`)
  return parser
}

function createMarkdownSample(texts: string[]): Omit<Sample, 'name'> {
  return createSample(MARKDOWN, texts)
}

function createMailSample(texts: string[]): Omit<Sample, 'name'> {
  return createSample(MAIL, texts)
}

function createSample(mediaType: string, texts: string[]): Omit<Sample, 'name'> {
  return { mediaType, files: texts.map((text) => Buffer.from(text)), hasBar: true }
}

function makePage(body: string): string {
  return `<!doctype html><html lang="en"><head><title>${makeProse(random, 20)}</title></head><body>${body}</body></html>`
}

function makePageSection(): string {
  return `<h2>${makeProse(random, 20)}</h2><p>${makeParagraph()} <a href="b.html">${makeProse(random, 10)}</a></p>`
}

function loadFolderSample(folder: string, extension: string, mediaType: string): Sample {
  const files = globSync(`**/*.${extension}`, { cwd: folder }).map((name) => readFileSync(join(folder, name)))
  return { name: `${files.length} files .${extension}`, mediaType, files, hasBar: true }
}

function makeManualSection(index: number): string {
  const list = repeat(5, () => `- ${makeLinkedText()}\n  - ${makeLinkedText()}\n`)
  const table = repeat(6, () => `| ${makeProse(random, 15)} | \`x\` | ${makeProse(random, 20)} |\n`)
  return `## ${makeProse(random, 30)} ${index}\n\n${makeLinkedText()}${makeParagraph()}\n\n${list}\n| a | b | c |\n|---|---|---|\n${table}\n\`\`\`sh\nnpm test\n\`\`\`\n\n> ${makeLinkedText()}\n\n`
}

function makeMail(plain: string, html: string): string {
  const part = (type: string, text: string) => `--x\r\nContent-Type: text/${type}; charset=utf-8\r\n\r\n${text}\r\n`
  return `From: a@b.c\r\nSubject: =?utf-8?Q?gr=C3=BCn?=\r\nContent-Type: multipart/alternative; boundary="x"\r\n\r\n${part('plain', plain)}${part('html', html)}--x--\r\n`
}

function makeMailWithAttachment(): string {
  const lines = Buffer.from(repeat(8000, makeParagraph)).toString('base64').replace(/.{76}/g, '$&\r\n')
  const head = 'Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64'
  return `From: a@b.c\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nhello\r\n--x\r\n${head}\r\n\r\n${lines}\r\n--x--\r\n`
}
