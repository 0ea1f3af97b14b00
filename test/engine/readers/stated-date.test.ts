import { describe, expect, it } from 'vitest'
import { buildDocumentFields } from '../../../src/engine/readers/document-fields.js'
import { findDateInFilename, findStatedDate, findYearInFilename } from '../../../src/engine/readers/stated-date.js'

describe('the date in a text', () => {
  it.each([
    ['Travel\n\nDate: 4 March 2021\n\nThe allowance is 40 pence.', '2021-03-04'],
    ['Kantine\nStand: 15.09.2024\n\nDas Essen kostet 5,90 €.', '2024-09-15'],
    ['Cantine\n\nMis à jour le 3 septembre 2021\n\nLe tarif est de 3 €.', '2021-09-03'],
    ['Biblioteca\nFecha: 7 de mayo de 2020', '2020-05-07'],
    ['Hexley, 11 May 2023\n\nDear Sir', '2023-05-11'],
    ['**Updated:** 2024-03-05', '2024-03-05'],
    ['Minutes of 8 October 2024 at Quay Street\n\nPresent: all.', '2024-10-08'],
    ['周会\n日期：2025年8月11日', '2025-08-11'],
    ['Reference\nAs of March 2022\nText.', '2022-03-01'],
  ])('comes from %j', (text, day) => {
    expect(findStatedDate(text)).toBe(day)
  })

  it.each([
    'Rules\n\nThe tunnel was opened to traffic after long delays on 3 May 1931.',
    'Rules\n\nThe office is closed from 22 December 2024 to the first week of January for the yearly works.',
    'Price list\n\nFounded: 1931',
    `${'A line.\n'.repeat(20)}Date: 4 March 2021`,
  ])('stays unknown if the text only contains dates of other events: %j', (text) => {
    expect(findStatedDate(text)).toBeUndefined()
  })
})

describe('the date in a file name', () => {
  it.each([
    ['minutes/2024-10-08-general-meeting.txt', '2024-10-08'],
    ['rules-2020-11.txt', '2020-11-01'],
    ['scan_20240305.pdf', '2024-03-05'],
    ['2023-04/report.md', '2023-04-01'],
  ])('comes from %s', (name, day) => {
    expect(findDateInFilename(name)).toBe(day)
  })

  it.each(['ticket-202403.txt', 'invoice-12024-03-05.txt', 'report-2023.md', 'a.md'])(
    'does not come from %s',
    (name) => {
      expect(findDateInFilename(name)).toBeUndefined()
    },
  )

  it('falls on the first day of a year at the end of the name', () => {
    expect(findYearInFilename('old/handbook-2023.md')).toBe('2023-01-01')
    expect(findYearInFilename('2023-handbook.md')).toBeUndefined()
  })
})

describe('the date of a document', () => {
  const dateOf = (declared: object, filename: string, text: string, front?: object) =>
    buildDocumentFields({ declared, metadata: front === undefined ? {} : { frontMatter: front } }, { filename, text })
      .documentDate

  it("comes first from a declared publication, then the text, the file name, and last the program's timestamps", () => {
    const text = 'Rules\n\nDate: 4 March 2021'
    expect(dateOf({ published: '2020-01-02' }, '2022-05-06.md', text)).toBe('2020-01-02T00:00:00.000Z')
    expect(dateOf({ modified: '2019-01-02' }, '2022-05-06.md', text, { updated: '2018-02-03' })).toBe(
      '2018-02-03T00:00:00.000Z',
    )
    expect(dateOf({ modified: '2019-01-02' }, '2022-05-06.md', text)).toBe('2021-03-04T00:00:00.000Z')
    expect(dateOf({ modified: '2019-01-02' }, '2022-05-06.md', 'Rules')).toBe('2022-05-06T00:00:00.000Z')
    expect(dateOf({ modified: '2019-01-02' }, 'rules-2022.md', 'Rules')).toBe('2019-01-02T00:00:00.000Z')
    expect(dateOf({}, 'rules-2022.md', 'Rules')).toBe('2022-01-01T00:00:00.000Z')
    expect(dateOf({}, 'rules.md', 'Rules')).toBeUndefined()
  })
})
