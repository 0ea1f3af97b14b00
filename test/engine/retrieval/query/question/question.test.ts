import { describe, expect, it } from 'vitest'
import {
  describeExpectedEvidence,
  splitQuestions,
} from '../../../../../src/engine/retrieval/query/question/expected-evidence.js'
import { doFacetsAgree, type Facet, findFacets } from '../../../../../src/engine/retrieval/query/question/facets.js'
import {
  findRequestedKind,
  isKindMissing,
  lacksKind,
} from '../../../../../src/engine/retrieval/query/question/requested-kind.js'
import { parseQuestionWords } from '../../../../../src/engine/retrieval/query/question/words.js'
import { analyzeQuery } from '../../../../../src/lib/text/analyze.js'

describe('the words of a question that match given terms', () => {
  const words = (query: string, ...wanted: string[]) =>
    parseQuestionWords(query)(new Set(wanted.flatMap((one) => analyzeQuery(one))))

  it('appear once, in the spelling and order of the question', () => {
    expect(words('Engines and the ENGINE of steam?', 'steam', 'engine')).toEqual(['Engines', 'ENGINE', 'steam'])
    expect(words('the engine, the engine', 'engine')).toEqual(['engine'])
    expect(words('Who improved it?', 'steam')).toEqual([])
    expect(words('', 'steam')).toEqual([])
  })

  it('appear as runs of characters in an unspaced script', () => {
    const read = parseQuestionWords('法国的首都')
    expect(read(new Set(['法国']))).toEqual(['法国'])
    expect(read(new Set(['法国', '国的']))).toEqual(['法国的'])
    expect(read(new Set(['法国', '首都']))).toEqual(['法国', '首都'])
  })
})

describe('the single questions of a query', () => {
  it.each<[string, string[]]>([
    ['When does it open, and who runs it?', ['When does it open', 'who runs it']],
    ['When does it open? Who runs it?', ['When does it open', 'Who runs it']],
    ['几点开放的呢这个？谁负责管理这里？', ['几点开放的呢这个', '谁负责管理这里'].filter((part) => part.length >= 8)],
    ['When does it open or where is it kept?', ['When does it open', 'where is it kept']],
  ])('in "%s": %j', (query, parts) => {
    expect(splitQuestions(query)).toEqual(parts.length > 1 ? parts : [query])
  })

  it('equal the query itself if it has one question, or if its other parts are fragments', () => {
    for (const query of [
      'When does it open?',
      'salt and pepper',
      'When does it open, and why?',
      '',
      'Really? When does it open?',
    ])
      expect(splitQuestions(query)).toEqual([query])
    expect(splitQuestions('When does it open and where now')).toHaveLength(2)
  })
})

describe('the facets of a question', () => {
  it.each<[string, Facet[]]>([
    ['How many days do we have?', ['time', 'duration']],
    ['How often is it cleaned?', ['frequency']],
    ['After how many hours is it cleaned?', ['frequency']],
    ['How much does it weigh?', ['measure']],
    ['By whom are fees set?', ['person']],
    ['What is the deadline?', ['time', 'frequency', 'duration']],
    ['How much does it cost?', ['price']],
    ['What are the fees?', ['price']],
    ['How much milk?', ['count', 'price']],
    ['How many weeks?', ['duration']],
    ['How many metres?', ['length', 'count']],
    ['How long?', ['duration', 'length']],
    ['How many lamps?', ['count']],
    ['How do I light it?', ['method']],
    ['How high?', ['measure']],
    ['Why?', ['reason']],
    ['Who?', ['person']],
    ['Where?', ['place']],
    ['When?', ['time', 'frequency']],
    ['What are the effects of it?', ['effect']],
    ['May dogs come in?', ['permission']],
    ['What does the lamp do?', ['role']],
    ['Was kostet es?', ['price', 'count']],
    ['Wie lange dauert es?', ['duration', 'length', 'time']],
    ['Wer leitet es?', ['person']],
    ['Warum?', ['reason']],
    ['Höhe der Gebühr', ['price', 'count']],
    ['Anzahl der Plätze', ['count', 'price']],
    ['Öffnungszeiten der Halle', ['time', 'frequency']],
    ['Leiter der Halle', ['person']],
    ['adresse de la salle', ['place']],
    ['Anleitung zur Lampe', ['method']],
    ['Leitung der Halle', ['person']],
    ['Hunde erlaubt', ['permission']],
    ['causa del incendio', ['reason']],
    ['Wieviel Prozent der Mitglieder stimmten ab?', ['count']],
    ['steam pressure limits', ['measure']],
    ['a lamp of brass', []],
  ])('"%s": %j', (question, facets) => {
    expect(findFacets(question)).toEqual(facets)
  })

  it('agree if two questions share a facet, or if one question has none', () => {
    expect(doFacetsAgree(['price', 'count'], ['count'])).toBe(true)
    expect(doFacetsAgree(['price'], ['time'])).toBe(false)
    expect(doFacetsAgree([], ['time'])).toBe(true)
    expect(doFacetsAgree(['time'], [])).toBe(true)
    expect(doFacetsAgree([], [])).toBe(true)
  })
})

describe('the kind of answer whose absence can be detected', () => {
  it.each([
    ['What is the phone number?', 'contact'],
    ['What is her e-mail address?', 'contact'],
    ['How many lamps?', 'number'],
    ['When is it?', 'time'],
    ['Who lit it?', 'person'],
    ['It was lit by whom?', 'person'],
    ['The man who lit it', 'other'],
    ['What is a lamp?', 'other'],
    ['How much does it cost?', 'other'],
  ])('%s: %s', (question, kind) => {
    expect(findRequestedKind(question)).toBe(kind)
  })

  it('counts as present if a text contains anything like it, such as a number or a name', () => {
    const lacks = (kind: Parameters<typeof lacksKind>[0], ...texts: string[]) =>
      texts.map((text) => lacksKind(kind, text))
    expect(lacks('number', 'a lamp', 'two lamps', '2 lamps', '灯', '二灯')).toEqual([true, false, false, true, false])
    expect(lacks('time', 'a lamp', 'every monday', '1908', '三年')).toEqual([true, false, false, false])
    expect(lacks('person', 'a lamp', 'it was Ada', 'a keeper', '王', 'Lamp\nGlass')).toEqual([
      true,
      false,
      false,
      false,
      true,
    ])
    expect(lacks('contact', 'room 12', 'call 030 123456', 'a@b')).toEqual([true, false, false])
    expect(lacksKind('other', '')).toBe(false)
  })

  it('counts as missing if no passage contains it near the best sentence of the passage', () => {
    const near = (body: string, sentence = body) => [{ title: '', body, sentence }]
    expect(isKindMissing('Who lit it?', [])).toBe(false)
    expect(isKindMissing('Where is the lamp?', near('the lamp shines.'))).toBe(true)
    expect(isKindMissing('Where is the lamp?', near('the lamp is in the hall.'))).toBe(false)
    expect(isKindMissing('How much is a lamp?', near('a lamp costs 5 euros.'))).toBe(false)
    // Any number is a weak sign of a price.
    expect(isKindMissing('How much is a lamp?', near('a lamp has 5 wicks.'))).toBe(true)
    expect(isKindMissing('Which year was it lit?', near('lit in may.'))).toBe(true)
    expect(isKindMissing('Which year was it lit?', near('lit in may 1908.'))).toBe(false)
    expect(isKindMissing('Why is it lit?', near('it is lit.'))).toBe(false)
    const some = [...near('the lamp shines.'), ...near('the lamp is in the hall.')]
    expect(isKindMissing('Where is the lamp?', some)).toBe(false)
  })

  it('counts as present up to two sentences before and after the best sentence', () => {
    const body = (at: number) =>
      Array.from({ length: 7 }, (_, place) =>
        place === at ? 'It is in the hall.' : place === 3 ? 'The lamp shines.' : 'It glows.',
      ).join(' ')
    const missing = (at: number) =>
      isKindMissing('Where is the lamp?', [{ title: '', body: body(at), sentence: 'The lamp shines.' }])
    expect([0, 1, 2, 4, 5, 6].map(missing)).toEqual([true, false, false, false, false, true])
  })
})

describe('the expected evidence of a question', () => {
  const one = (query: string) => describeExpectedEvidence(query)[0]

  it.each([
    ['What is the price of a berth?', 'price', 'a berth'],
    ['Can you tell me when the kiosk opens?', 'time', 'the kiosk opens'],
    ['Hello, where is the kiosk?', 'place', 'the kiosk'],
    ['What does the sign stand for?', 'definition', 'the sign stand for'],
    ['How many berths are there?', 'count', 'berths'],
    ['Is there a kiosk?', 'permission', 'a kiosk'],
    ['Wieviel Prozent der Boote sanken im Hafen?', 'share', 'Wieviel Prozent der Boote sanken im Hafen'],
    ['How often does it run?', 'frequency', 'run'],
  ])('"%s" has the kind %s and the subject "%s"', (query, kind, subject) => {
    expect(one(query)).toMatchObject({ kind, subject })
  })

  it('lacks a kind if the question requests no type of answer, and a subject if it names nothing', () => {
    expect(one('berths of the harbour')).toEqual({
      ...{ text: 'a text about this: berths of the harbour', subject: 'berths of the harbour' },
    })
    expect(one('???')).toEqual({ text: 'a text', subject: '' })
  })

  it('covers at most five questions, each truncated to 160 characters', () => {
    const query = Array.from({ length: 7 }, (_, i) => `Where is the lamp number ${i}?`).join(' ')
    expect(describeExpectedEvidence(query)).toHaveLength(5)
    const subject = (length: number) => one(`Where is ${'x'.repeat(length)}?`)?.subject
    expect(subject(160)).toBe('x'.repeat(160))
    expect(subject(161)).toBe(`${'x'.repeat(160)}…`)
  })

  it.each([
    ['Warum ist die Halle zu?', 'eine Erklärung des Grundes: Warum ist die Halle zu'],
    ['Où est la salle du port ?', 'un texte qui nomme le lieu : Où est la salle du port'],
    ['¿Cuándo abre la sala del puerto?', 'un texto que indique una fecha o una hora: Cuándo abre la sala del puerto'],
    ['谁写的？', '指出人物或机构的文字：谁写的'],
    ['灯はどこですか', 'a text that names the place: 灯はどこですか'],
  ])('uses the language of the question: %s', (query, text) => {
    expect(one(query)?.text).toBe(text)
  })
})
