import { copyFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../bench/lib/daemon.js'
import { getRecogniser } from '../../../../src/engine/readers/ocr/recognise.js'
import type { OcrText } from '../../../../src/engine/readers/ocr/words.js'
import type { Bitmap } from '../../../../src/engine/readers/render/bitmap.js'
import { openPages } from '../../../../src/engine/readers/render/pdf-pages.js'
import {
  findLanguagesOfOtherScripts,
  listInstalledLanguages,
  parseLanguageSelection,
  readLanguageSetting,
} from '../../../../src/local/ocr-languages.js'
import { makePdf, sheetOf } from '../render/make-pdf.js'

// The letters of the Symbol font: Greek at the positions of the Latin letters of Helvetica.
const GREEK = ['h qalassa einai megalh', 'kai to ploio pleei makria', 'o anemoj fusa apo boria', 'oi yaradej girizoun']
const ENGLISH = [
  'The mill of Port Ellery ground forty tons',
  'of flour, and no wheel was broken.',
  'It was a good year.',
]

let folder: ReturnType<typeof temporaryFolder>
beforeAll(() => {
  folder = temporaryFolder('languages')
  const data = createRequire(import.meta.url).resolve('tesseract-data-greek/4.0.0_best_int/ell.traineddata.gz')
  copyFileSync(data, join(folder.path, 'ell.traineddata.gz'))
})
afterAll(() => folder.remove())

async function drawn(lines: readonly string[], font: string): Promise<Bitmap> {
  const pages = await openPages(makePdf([sheetOf(lines, 16)], font), 'sheet.pdf')
  const bitmap = pages.render(1, { dpi: 200, grey: true })
  pages.close()
  return bitmap
}

function words({ lines }: OcrText): string {
  return lines.map((line) => line.words.map(({ text }) => text).join(' ')).join(' ')
}

describe('a script outside of the chosen languages', { timeout: 240_000 }, () => {
  it('gets detected page by page if its language is installed', async () => {
    const [greek, english] = await Promise.all([drawn(GREEK, 'Symbol'), drawn(ENGLISH, 'Helvetica')])
    const others = findLanguagesOfOtherScripts(['eng'], folder.path)
    expect(others).toContain('ell')
    const reader = await getRecogniser({ codes: ['eng'], others, folder: folder.path })
    for (const page of [greek, english]) {
      const text = reader.read(page, 200)
      if (page === english) expect(words(text)).toContain('mill of Port Ellery')
      else expect(words(text)).toMatch(/θαλασσα ειναι/u)
      expect(text.confidence).toBeGreaterThan(50)
    }
  })
})

it('the detection of other scripts uses installed languages with letters that the chosen languages lack', () => {
  expect(listInstalledLanguages(folder.path)).toEqual(expect.arrayContaining(['ell', 'eng']))
  expect(findLanguagesOfOtherScripts(['eng'], folder.path)).toEqual(['ell'])
  expect(findLanguagesOfOtherScripts(['deu'], folder.path)).toEqual(['ell'])
  expect(findLanguagesOfOtherScripts(['grc'], folder.path)).toEqual(['eng'])
  expect(findLanguagesOfOtherScripts(['eng', 'ell'], folder.path)).toEqual([])
})

it('the OCR language auto turns on the detection of scripts, with English as default language', () => {
  const choice = parseLanguageSelection(folder.path, ['eng+auto', 'letters=deu', 'scrolls=auto'])
  expect(choice.forAll).toEqual({ codes: ['eng'], detectsScripts: true })
  expect(choice.bySpace).toEqual({
    letters: { codes: ['deu'], detectsScripts: false },
    scrolls: { codes: ['eng'], detectsScripts: true },
  })
  expect(readLanguageSetting(['eng+auto'])).toEqual(['eng+auto'])
  expect(() => readLanguageSetting(['automatic'])).toThrow('or auto')
})
