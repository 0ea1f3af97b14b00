import { describe, expect, it } from 'vitest'
import { findMissingNames } from '../../../../src/engine/retrieval/query/names/missing-names.js'

const passage = (text: string, title = '', source = '') => ({ text, title, source })
const missing = (question: string, text: string, title = '', source = '') =>
  findMissingNames(question, [passage(text, title, source)])

const PACKAGING = 'Amcor makes packaging. Net sales were 14,694 million in fiscal 2023.'

describe('names of a question that no passage mentions', () => {
  it('include companies, people, titles and codes, in English, French, German and Chinese', () => {
    expect(missing('What were the net sales of Boeing?', PACKAGING)).toEqual(['Boeing'])
    expect(missing("Boeing's net sales in 2023?", PACKAGING)).toEqual(['Boeing'])
    expect(missing("what were boeing's net sales?", PACKAGING)).toEqual(['boeing'])
    expect(missing('How large is the fleet of Norwegian Cruise Line?', PACKAGING)).toEqual(['Norwegian Cruise Line'])
    expect(missing('Compare the sales of Amcor and 3M', PACKAGING)).toEqual(['3M'])
    expect(missing('What did Best Buy sell?', 'We buy at the best price. Amcor sells.')).toEqual(['Best Buy'])
    expect(missing('Who wrote "The Sea Wolf"?', PACKAGING)).toEqual(['The Sea Wolf'])
    expect(missing('Quel est le chiffre d’affaires de Renault ?', PACKAGING)).toEqual(['Renault'])
    expect(missing('Wie hoch war der Umsatz von Angela Merkel?', PACKAGING)).toEqual(['Angela Merkel'])
    expect(missing('《红楼梦》的作者是谁？', '西游记是吴承恩写的。')).toEqual(['红楼梦'])
    expect(missing('在哪里可以找到大卫·佩特鲁齐的职业？', '西游记是吴承恩写的。')).toHaveLength(1)
  })

  it('exclude names in a passage, its heading, its document or its file name', () => {
    expect(missing('What were the net sales of Amcor?', PACKAGING)).toEqual([])
    expect(missing('What were the net sales of Amcor?', 'They were 14,694 million.', 'Amcor plc › Sales')).toEqual([])
    expect(missing('What were Ulta Beauty’s sales?', 'They rose.', '', 'ULTABEAUTY_2023Q4.pdf')).toEqual([])
    const both = [passage('Amcor sold more.'), passage('Boeing sold less.')]
    expect(findMissingNames('Did Amcor sell more than Boeing?', both)).toEqual([])
  })

  it('exclude names that are inflected, misspelled, abbreviated or spelled out', () => {
    expect(missing('When did Italy join?', 'The Italian government signed in 1951.')).toEqual([])
    expect(missing('Что открыли в Москве?', 'Москва открыла новую станцию.')).toEqual([])
    expect(missing('Who led the Microsft project?', 'Ada led the project at Microsoft.')).toEqual([])
    expect(missing('What does J&J make?', 'Johnson & Johnson makes plasters.')).toEqual([])
    expect(missing('What does Johnson & Johnson make?', 'J&J makes plasters.')).toEqual([])
    expect(missing('What does IBM make?', 'International Business Machines makes computers.')).toEqual([])
    expect(missing('What did the United States buy?', 'The U.S. bought Alaska.')).toEqual([])
    expect(missing('When was Angela Dorothea Merkel born?', 'Merkel, Angela: 1954.')).toEqual([])
    expect(missing('When was the Bank of England founded?', 'The bank was founded in England in 1694.')).toEqual([])
  })

  it('exclude capitalized words, measures and times that are no names', () => {
    const text = 'It was 12 %.'
    for (const question of [
      'Parking costs how much?',
      'How high was the operating margin in Q2 FY2022 in USD?',
      'What is the capital of the company in March?',
      'Wie hoch ist die Miete im Monat?',
      'WHAT IS THE PRICE OF THE TICKET TODAY',
      'What Is The Price Of The Monthly Ticket?',
      "What are today's opening hours of the company's shop?",
      'Which API key do I need?',
      'What did World War II cost?',
    ])
      expect(missing(question, `${text} The war of 1945 ended.`)).toEqual([])
  })

  it('exclude everything if there are no passages or no question', () => {
    expect(findMissingNames('Where is Boeing?', [])).toEqual([])
    expect(missing('', PACKAGING)).toEqual([])
  })
})
