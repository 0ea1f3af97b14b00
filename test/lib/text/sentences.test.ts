import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitSentences } from '../../../src/lib/text/sentences.js'

const cut = (text: string): string[] => splitSentences(text).map(({ start, end }) => text.slice(start, end))

describe('splitSentences', () => {
  it('ends a sentence at closing punctuation, with its quotes', () => {
    expect(cut('One. "Two?" she asked! Three')).toEqual(['One.', '"Two?" she asked!', 'Three'])
  })

  it('does not end a sentence at abbreviations, initials and numbers', () => {
    expect(cut('Dr. J. R. Smith et al. paid 3.5 dollars in Jan. 2004. He left.')).toEqual([
      'Dr. J. R. Smith et al. paid 3.5 dollars in Jan. 2004.',
      'He left.',
    ])
  })

  it('splits Chinese at its full stops, without a space', () => {
    expect(cut('他说：“你好。”然后走了！真的吗？是')).toEqual(['他说：“你好。”', '然后走了！', '真的吗？', '是'])
  })

  it('splits at empty lines and before list entries, not at wrapped lines', () => {
    expect(cut('Heading\n\n- one\n- two\n\nwrapped\nline. End')).toEqual([
      'Heading',
      '- one',
      '- two',
      'wrapped\nline.',
      'End',
    ])
  })

  it.each([
    ['bis zum 31. Juli geöffnet. Danach nicht.', ['bis zum 31. Juli geöffnet.', 'Danach nicht.']],
    ['am 3. Mai', ['am 3. Mai']],
    [
      'Die 14. Sitzung findet am 3. 5. 2024 statt. Sie beginnt um 10 Uhr.',
      ['Die 14. Sitzung findet am 3. 5. 2024 statt.', 'Sie beginnt um 10 Uhr.'],
    ],
    ['14. Sitzung des Rates', ['14. Sitzung des Rates']],
    ['Wir feiern das XIV. Fest der Stadt. Es ist groß.', ['Wir feiern das XIV. Fest der Stadt.', 'Es ist groß.']],
    ['Anträge sind bis zum\n31. Juli einzureichen.', ['Anträge sind bis zum\n31. Juli einzureichen.']],
    ['Det er den 2. Division, som de vandt. De er glade.', ['Det er den 2. Division, som de vandt.', 'De er glade.']],
    ['Bu, 2. Dünya Savaşı ile ilgili bir kitap.', ['Bu, 2. Dünya Savaşı ile ilgili bir kitap.']],
  ])('does not end a sentence at the ordinal of %j', (text, sentences) => {
    expect(cut(text)).toEqual(sentences)
  })

  it.each([
    [
      'The price rose to 31. Revenue of the company was flat.',
      ['The price rose to 31.', 'Revenue of the company was flat.'],
    ],
    ['Er wohnt in Nummer 14. Müller wohnt nebenan.', ['Er wohnt in Nummer 14.', 'Müller wohnt nebenan.']],
    ['Die Gebühr beträgt 20. Das ist wenig.', ['Die Gebühr beträgt 20.', 'Das ist wenig.']],
    [
      'Le total est de 31. Juillet est le mois des vacances.',
      ['Le total est de 31.', 'Juillet est le mois des vacances.'],
    ],
    ['Er kam 1931. Juli war warm.', ['Er kam 1931.', 'Juli war warm.']],
    ['Tür öffnen\n2. Schlüssel drehen', ['Tür öffnen', '2. Schlüssel drehen']],
  ])('ends a sentence after a number that is no ordinal in %j', (text, sentences) => {
    expect(cut(text)).toEqual(sentences)
  })

  it.each([
    ['पुस्तकालय नौ बजे खुलता है। यह रविवार को बंद रहता है।', 2],
    ['បណ្ណាល័យបើកនៅម៉ោងប្រាំបួន។ វាបិទនៅថ្ងៃអាទិត្យ។', 2],
    ['စာကြည့်တိုက်ကိုဖွင့်သည်။ တနင်္ဂနွေနေ့ပိတ်သည်။', 2],
    ['کتب خانہ نو بجے کھلتا ہے۔ یہ اتوار کو بند رہتا ہے۔', 2],
    ['ห้องสมุดเปิดให้บริการทุกวันตั้งแต่เวลาเก้านาฬิกาจนถึงเวลาห้าโมงเย็น ผู้เยี่ยมชมต้องแสดงบัตรสมาชิกที่เคาน์เตอร์ก่อนเข้าใช้บริการทุกครั้ง', 2],
    ['ส้ม แอปเปิ้ล กล้วย', 1],
  ])('ends a sentence at the full stops or spaces of the script of %j', (text, count) => {
    expect(cut(text)).toHaveLength(count)
    expect(cut(text).join(' ')).toBe(text)
  })

  it('does not end a sentence within a name with symbols', () => {
    const text = "O'Brien of AT&T writes C++ for node.js and .NET. He is busy."
    expect(cut(text)).toEqual(["O'Brien of AT&T writes C++ for node.js and .NET.", 'He is busy.'])
  })

  it('splits tokenized text in lower case', () => {
    expect(cut('an experiment was made . a wing was used .')).toEqual(['an experiment was made .', 'a wing was used .'])
  })

  it('splits text without full stops into quotable lengths', () => {
    const sentences = cut('word '.repeat(1000))
    expect(Math.max(...sentences.map((sentence) => sentence.length))).toBeLessThanOrEqual(800)
    expect(sentences.join(' ').split(' ')).toHaveLength(1000)
  })

  it('loses only white space, and keeps the order, for any text', () => {
    const text = fc.string({ unit: fc.constantFrom(...'aA.!? \n"。中1-|') })
    fc.assert(
      fc.property(text, (value) => {
        let at = 0
        for (const { start, end } of splitSentences(value)) {
          expect(value.slice(at, start).trim()).toBe('')
          expect(end).toBeGreaterThan(start)
          at = end
        }
        expect(value.slice(at).trim()).toBe('')
      }),
    )
  })
})
