import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  analyzeContent,
  analyzeDocument,
  analyzeQuery,
  analyzeTitled,
  forEachTerm,
  forEachTermOfParts,
} from '../../../src/lib/text/analyze.js'
import { foldAccents } from '../../../src/lib/text/fold.js'
import { stemEnglish } from '../../../src/lib/text/stems.js'

function held(document: string): Set<string> {
  const terms = new Set<string>()
  forEachTerm(document, (term) => terms.add(term))
  return terms
}

/** Content terms of a question that a document contains, in the form that ranking compares. */
function met(question: string, document: string): string[] {
  const terms = held(document)
  return analyzeContent(question).filter((term) => terms.has(term))
}

describe('words of a language', () => {
  it.each([
    ['German', 'Wie hoch sind die Gebühren?', 'Die Gebühr beträgt vier Euro.', 1],
    ['German verbs', 'Wann öffnet das Bad?', 'Das Bad ist ab neun Uhr geöffnet.', 2],
    ['French', 'Combien coûtent les billets ?', 'Un billet coûte dix euros.', 2],
    ['Spanish', '¿Cuánto cuestan las entradas?', 'La entrada cuesta diez euros.', 2],
    ['Italian', 'Quanto costano i biglietti?', 'Un biglietto costa nove euro.', 2],
    ['Portuguese', 'Quando fecham as lojas?', 'A loja fecha às oito.', 1],
    ['Dutch', 'Hoeveel kosten de kaartjes?', 'Een kaart kost vijf euro.', 1],
    ['Swedish', 'Vad kostar biljetterna?', 'En biljett kostar tio kronor.', 2],
    ['Finnish', 'Missä kirjasto sijaitsee?', 'Kirjastossa on kaksi salia ja se on avoin.', 1],
    ['Hungarian', 'Mikor nyit a könyvtár?', 'A könyvtárban csend van.', 1],
    ['Turkish', 'Odaların anahtarı nerede?', 'Odalar ve anahtarlar için danışmaya gidin.', 1],
    ['Polish', 'Gdzie są bilety?', 'Bilet można kupić w kasie.', 1],
    ['Russian', 'Сколько стоят билеты?', 'Билет стоит сто рублей.', 1],
    ['Ukrainian', 'Де знаходяться бібліотеки?', 'Бібліотека є у центрі.', 1],
    ['Bulgarian', 'Къде е библиотеката?', 'Библиотека има до гарата.', 1],
    ['Greek', 'Πού είναι η βιβλιοθήκη;', 'Το ωράριο της βιβλιοθήκης', 1],
    ['Arabic', 'أين مكتبة المدينة؟', 'المكتبة في وسط المدينة', 2],
    ['Hindi', 'किताब कहाँ है?', 'किताबें मेज़ पर हैं।', 1],
  ])('match other forms between question and document: %s', (_, question, document, least) => {
    expect(met(question, document).length).toBeGreaterThanOrEqual(least)
    // None of them is grammar.
    expect(analyzeContent(question).length).toBeLessThanOrEqual(3)
  })

  it('do not include question words, even when these are typed without accents', () => {
    expect(analyzeContent('Wie viel kostet das?')).toEqual(['kost'])
    expect(analyzeContent('cuanto cuesta?')).toEqual(['cost'])
    expect(analyzeContent('où est le garage ?')).toEqual(['garag'])
    expect(analyzeContent('कब और कहाँ?')).toEqual([])
  })

  it('keep their English terms in English text, even next to foreign words', () => {
    expect(analyzeQuery('How do cells die of starvation?')).toEqual(['cell', 'die', 'starvat'])
    expect(analyzeQuery('de novo synthesis, Müller et al.')).toEqual(['de', 'novo', 'synthesi', 'muller', 'et', 'al'])
    expect(analyzeDocument('El Niño warms the sea in winter, and the fish leave')).toEqual(
      analyzeDocument('el nino warms the sea in winter, and the fish leave'),
    )
  })

  it('follow the language of their line in a document of two languages', () => {
    const mixed = 'The keys are at the desk and they are free.\nDie Gebühren für die Schlüssel sind nicht hoch.'
    expect(met('Wie hoch ist die Gebühr für den Schlüssel?', mixed)).toContain('gebuhr')
    expect(met('Where are keys?', mixed)).toContain('kei')
  })

  it('get no language if no language knows them, whatever function words they resemble', () => {
    const names = 'Dile wi zufaca gige ru doda si gi wefeca li jona ki fotu nada maca jaseca hi nacaga nu tete geka.'
    const text = Array.from({ length: 6 }, () => names).join(' ')
    const distinct = new Set(text.toLowerCase().match(/[a-z]+/g))
    expect(new Set(analyzeDocument(text)).size).toBeLessThanOrEqual(distinct.size)
  })

  it('get, in a title, the language of the text below the title', () => {
    const { title } = analyzeTitled('Gebühren', 'Die Kosten sind in der Liste, die an der Kasse liegt.')
    expect(title).toContain('gebuhr')
  })

  it('get the language of all sentences in one passage', () => {
    const ends: number[] = []
    const terms: string[] = []
    const parts = ['Gebühren', 'Die Kosten sind in der Liste.', 'Schlüssel kosten extra.']
    forEachTermOfParts(
      parts,
      (term) => terms.push(term),
      () => ends.push(terms.length),
    )
    expect(ends).toHaveLength(3)
    expect(terms.slice(0, ends[0])).toContain('gebuhr')
  })
})

describe('the terms of a document', () => {
  const WORDS =
    'die Gebühren kosten öffnet niños abierto élèves coûtent libri città livros não huis böcker är saatler değil ceny są Gebäude running cells que para und pas'.split(
      ' ',
    )
  const texts = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 })

  it('include the separate term of each word, whatever language is detected', () => {
    fc.assert(
      fc.property(texts, (words) => {
        const terms = new Set(analyzeDocument(words.join(' ')))
        const alone = words.map((word) => stemEnglish(foldAccents(word.toLowerCase())))
        expect(alone.filter((term) => !terms.has(term))).toEqual([])
      }),
    )
  })
})

describe('questions in scripts without spaces', () => {
  it('lose Korean particles and endings', () => {
    expect(analyzeContent('도서관은 언제 문을 닫나요?')).toEqual(['도서', '서관', '문', '닫'])
    expect(met('회사에서 물은 얼마인가요?', '회사는 물을 무료로 제공합니다.')).toEqual(['회사', '물'])
  })

  it('lose Japanese grammar and kana endings of verbs', () => {
    expect(analyzeContent('図書館は何時に開きますか。')).toEqual(['図書', '書館', '開'])
    expect(met('窓口はいつ開きますか。', '窓口は九時から開いています。')).toEqual(['窓口', '開'])
    expect(analyzeContent('りんごはいくらですか。')).toEqual(['りん', 'んご'])
    expect(analyzeContent('パスワードは？')).toContain('パス')
  })

  it('lose Chinese and Thai grammar, but keep words that contain it', () => {
    expect(analyzeContent('图书馆什么时候关门？')).toEqual(['图书', '书馆', '关门'])
    expect(analyzeContent('会议的目的是什么？')).toEqual(['会议', '目的'])
    expect(met('ร้านเปิดกี่โมง', 'ร้านเปิดเก้าโมง').length).toBeGreaterThan(2)
    expect(analyzeContent('อยู่ที่ไหน')).toEqual([])
  })
})
