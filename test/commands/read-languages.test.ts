import { copyFileSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPages } from '../../src/engine/readers/render/pdf-pages.js'
import { makePdf, makeScan, sheetOf } from '../engine/readers/render/make-pdf.js'
import { cliHome } from '../helpers/cli.js'
import { encodePng } from '../helpers/png.js'

// The letters of the font Symbol: Greek where Helvetica has Latin ones.
const GREEK = ['h qalassa einai megalh', 'kai to ploio pleei makria', 'o anemoj fusa apo boria', 'oi yaradej girizoun']
const WORDS = /θαλασσα/u
const TIMEOUT_MS = 300_000

const home = cliHome()
beforeAll(async () => {
  const folder = join(home.dataDir, 'languages')
  mkdirSync(folder, { recursive: true })
  const data = createRequire(import.meta.url).resolve('tesseract-data-greek/4.0.0_best_int/ell.traineddata.gz')
  copyFileSync(data, join(folder, 'ell.traineddata.gz'))
  const pages = await openPages(makePdf([sheetOf(GREEK, 16)], 'Symbol'), 'sheet.pdf')
  home.file('greek.png', encodePng(pages.render(1, { dpi: 200, grey: true })))
  pages.close()
})
afterAll(() => home.end())

describe('ks read with text in pictures', { timeout: TIMEOUT_MS }, () => {
  const read = (args: string[], env: Record<string, string> = {}) =>
    home.ks(['read', 'greek.png', '--as', 'text', ...args], { env, timeoutMs: TIMEOUT_MS })

  it('uses the languages of --ocr-languages, else of the setting, else detects the script', async () => {
    expect((await read(['--ocr-languages', 'ell'])).stdout).toMatch(WORDS)
    expect((await read([])).stdout).toMatch(WORDS)
    expect((await read([], { KS_DAEMON_OCR_LANGUAGES: 'eng' })).stdout).not.toMatch(WORDS)
    expect((await read([], { KS_DAEMON_OCR_LANGUAGES: 'ell' })).stdout).toMatch(WORDS)
  })

  it('refuses a malformed language and a language that is not installed', async () => {
    const missing = await read(['--ocr-languages', 'deu+eng'])
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining('language deu for text in pictures is not installed'),
    ])
    const none = await read(['--ocr-languages', 'Deutsch!'])
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('is not a list of languages')])
  })

  it('reads every page of a scan at once, and leaves none for later', async () => {
    const lines = (page: number) =>
      Array.from({ length: 30 }, (_, line) => `Berth ${page} was painted by carpenter number ${line} in the spring.`)
    home.file(
      'long.pdf',
      await makeScan(
        [1, 2, 3].map((page) => sheetOf(lines(page))),
        150,
      ),
    )
    const { stdout } = await home.ks(['read', 'long.pdf', '--json'], { timeoutMs: TIMEOUT_MS })
    const { metadata } = JSON.parse(stdout)
    expect(metadata.ocr).toMatchObject({ pages: 3 })
    expect(metadata.ocr).not.toHaveProperty('waiting')
  })
})
