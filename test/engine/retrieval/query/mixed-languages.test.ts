import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

/** A short document and its question, a sentence in the middle of a long document and its question. */
const SAMPLES: Record<string, [string, string, string, string]> = {
  en: [
    'The warehouse opens at seven in the morning.',
    'When does the warehouse open?',
    'The guarantee of the refrigerator lasts three years from the day of purchase.',
    'How many years does the guarantee of the refrigerator last?',
  ],
  de: [
    'Das Schwimmbad schließt im Winter um achtzehn Uhr.',
    'Wann schließt das Schwimmbad im Winter?',
    'Die Bürgermeisterin vergibt den Preis für die beste Erfindung am zweiten Mai.',
    'Wann wird der Preis für die beste Erfindung vergeben?',
  ],
  fr: [
    'La cantine sert le déjeuner jusqu’à quatorze heures.',
    'Jusqu’à quelle heure la cantine sert-elle le déjeuner ?',
    'Le loyer des bureaux augmente chaque année de deux pour cent.',
    'De combien le loyer des bureaux augmente-t-il ?',
  ],
  ru: [
    'Музей закрыт по понедельникам.',
    'Когда закрыт музей?',
    'Гарантия на холодильник действует три года со дня покупки.',
    'Сколько лет со дня покупки действует гарантия на холодильник?',
  ],
  ar: [
    'تفتح المكتبة أبوابها في الساعة التاسعة صباحا.',
    'متى تفتح المكتبة أبوابها؟',
    'تبلغ رسوم التسجيل في النادي خمسين دينارا في السنة.',
    'كم تبلغ رسوم التسجيل في النادي؟',
  ],
  zh: [
    '会议室在三楼，需要提前预订。',
    '会议室在哪里？',
    '员工每年可以享受十五天的带薪年假。',
    '员工每年有多少天带薪年假？',
  ],
  ja: [
    '駐車場は地下二階にあります。',
    '駐車場はどこにありますか？',
    '健康診断は毎年六月に行われます。',
    '健康診断はいつ行われますか？',
  ],
  ko: [
    '택배는 오후 세 시에 도착합니다.',
    '택배는 언제 도착합니까?',
    '신입 사원의 수습 기간은 세 달입니다.',
    '신입 사원의 수습 기간은 얼마입니까?',
  ],
  th: ['ร้านกาแฟปิดทุกวันอาทิตย์', 'ร้านกาแฟปิดวันไหน', 'พนักงานต้องส่งรายงานภายในวันที่ห้าของเดือน', 'พนักงานต้องส่งรายงานเมื่อไร'],
}
/** Filler text of the long documents. */
const FILL: Record<string, string> = {
  en: 'The committee discussed the plans for the coming year and found that more work is needed. Several members spoke about the budget and the schedule. ',
  de: 'Der Ausschuss hat über die Pläne für das kommende Jahr gesprochen und festgestellt, dass noch viel zu tun ist. Mehrere Mitglieder sprachen über den Haushalt. ',
  fr: 'Le comité a discuté des projets pour l’année à venir et a constaté qu’il reste beaucoup de travail. Plusieurs membres ont parlé du budget. ',
  ru: 'Комитет обсудил планы на следующий год и решил, что нужно ещё много работы. Несколько участников говорили о бюджете и сроках. ',
  ar: 'ناقشت اللجنة خطط العام المقبل ووجدت أن هناك حاجة إلى مزيد من العمل. وتحدث عدد من الأعضاء عن الميزانية. ',
  zh: '委员会讨论了来年的计划，认为还需要做更多的工作。几位成员谈到了预算和时间表。',
  ja: '委員会は来年の計画について話し合い、さらに多くの作業が必要だと判断しました。数名の委員が予算について発言しました。',
  ko: '위원회는 내년 계획을 논의했고 더 많은 작업이 필요하다고 판단했습니다. 여러 위원이 예산에 대해 말했습니다. ',
  th: 'คณะกรรมการได้หารือเกี่ยวกับแผนงานสำหรับปีหน้าและพบว่ายังต้องทำงานอีกมาก สมาชิกหลายคนพูดถึงงบประมาณ ',
}

const QUOTES = `${FILL.en?.repeat(5)}
The chairman said: "Die Stadtbücherei verleiht auch Werkzeuge an alle Einwohner." ${FILL.en?.repeat(3)}
The notice read "Der Fahrstuhl ist bis Ostern außer Betrieb", and the caretaker apologised for the broken elevator.
`

describe('a space of documents in nine languages', () => {
  let test: TestEngine
  let id = ''
  beforeAll(async () => {
    test = await startEngine()
    id = (await test.engine.spaces.create(ADA, { name: 'Mixed', slug: 'mixed' })).id
    const files: Record<string, string> = { 'quotes.md': QUOTES }
    for (const [language, [short, , sentence]] of Object.entries(SAMPLES)) {
      const fill = FILL[language] ?? ''
      // A short line without a final mark, as in Thai, is a heading.
      const gap = /[.。]$/u.test(sentence) ? '\n\n' : ' '
      files[`${language}-short.md`] = `${short}\n`
      files[`${language}-long.md`] =
        `${fill.repeat(12)}\n\n${fill.repeat(4)}${gap}${sentence}${gap}${fill.repeat(6)}\n\n${fill.repeat(12)}\n`
    }
    await ingest(test.engine, ADA, id, files)
  })
  afterAll(() => test.end())

  const found = async (question: string) => {
    const { answer, done } = await ask(test.engine, ADA, id, question)
    const { evidenceBundle } = done.metadata as { evidenceBundle: EvidenceBundle }
    return { answer, state: evidenceBundle.state, first: evidenceBundle.items[0]?.metadata.filename }
  }

  it.each(Object.entries(SAMPLES))(
    'answers in %s from a short document and from the middle of a long one',
    async (language, [short, ofShort, sentence, ofLong]) => {
      expect(await found(ofShort)).toMatchObject({ state: 'answerable', first: `${language}-short.md` })
      const long = await found(ofLong)
      expect(long).toMatchObject({ state: 'answerable', first: `${language}-long.md` })
      expect((await found(ofShort)).answer).toContain(short.slice(0, 10))
      expect(long.answer).toContain(sentence)
    },
  )

  it.each([
    ['Was verleiht die Stadtbücherei an Einwohner?', 'Werkzeuge'],
    ['Verleihen die Büchereien der Stadt Werkzeug?', 'Werkzeuge'],
    ['Wie lange ist der Fahrstuhl außer Betrieb?', 'Ostern'],
    ['Why did the caretaker apologise for the elevator?', 'broken elevator'],
  ])('answers from German quotations in an English document, in either language: %s', async (question, told) => {
    const { answer, state, first } = await found(question)
    expect(first).toBe('quotes.md')
    expect(state).not.toBe('not-enough-evidence')
    expect(answer).toContain(told)
  })
})
