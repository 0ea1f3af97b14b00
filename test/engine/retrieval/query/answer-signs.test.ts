import { describe, expect, it } from 'vitest'
import {
  type AnswerType,
  computeSignStrength,
  hasAnswerSign,
} from '../../../../src/engine/retrieval/query/question/answer-type.js'

/** Sentences with the strength of the sign of each answer type in them. */
const SIGNS: [AnswerType, number, string[]][] = [
  ['person', 1, ['It was built by James.', 'The chair, Ada, spoke.', '作者是大卫·佩特鲁齐']],
  ['person', 0.6, ['the head engineer repairs it.', 'ask our director.', '它由王小明修理']],
  ['person', 0, ['Lamps are lit.', 'it shines.']],
  [
    'time',
    1,
    ['built in 1908', 'open in march', 'im Oktober', 'en enero', 'the 19th century', '于3月开放', '十九世纪'],
  ],
  ['time', 0.8, ['closed on mondays', 'ab 18 Uhr', 'at 9 am', 'from 10:30', 'at noon', 'um Mitternacht']],
  ['time', 0.5, ['for two weeks', 'after the meal', 'it opens every spring']],
  ['time', 0, ['it is red', 'room 12']],
  ['money', 1, ['costs $5', '40 euros', '12,50 €', 'five dollars', 'it is free', '5元']],
  ['money', 0.4, ['it has 5 doors', 'three doors']],
  ['money', 0, ['it is dear']],
  ['percent', 1, ['5 % of it', '12％', '百分之五', 'ten percent', 'zwei Prozent', 'diez por ciento']],
  ['percent', 0.5, ['half of it', 'most of it', 'die Mehrheit']],
  ['duration', 1, ['takes two hours', 'a 3-day tour', 'drei Wochen', 'une heure', '需要3小时', '十个月']],
  ['duration', 0.4, ['there are 12']],
  ['duration', 0, ['it is long']],
  ['number', 1, ['12', 'seven swans', '三个房间', 'vingt maisons']],
  ['number', 0, ['many swans', 'a weight', 'the often']],
  ['place', 1, ['it lies in Brest', 'near the River', 'auf Amrum', 'à Lyon', '在北京大学', '浙江省']],
  ['place', 0.5, ['it lies in the drawer', 'unter dem Tisch', 'sur la table']],
  ['place', 0, ['it lies']],
  ['reason', 1, ['closed because it rained', 'due to rain', 'weil es regnet', 'parce que', 'debido a', '因为下雨']],
  ['reason', 0.5, ['closed since it rained', 'it led there']],
  ['reason', 0, ['it rained']],
  ['definition', 1, ['a lamp is a light', 'a lamp means light', 'Lampe bedeutet Licht', '灯是光']],
  ['definition', 0, ['lamps shine']],
  ['name', 1, ['it is called Ada', 'he read "The Sea"', '他读《红楼梦》']],
  ['name', 0, ['it is red']],
  ['truth', 0, ['It is so, James, in 1908.']],
  ['any', 0, ['It is so, James, in 1908.']],
]

describe.each(SIGNS)('answer signs of type %s have the strength %d', (type, strength, sentences) => {
  it.each(sentences)('in "%s"', (sentence) => {
    expect(computeSignStrength(type, sentence, '')).toBe(strength)
    expect(hasAnswerSign(type, sentence, '')).toBe(strength > 0)
  })
})

describe('a value that the question itself contains', () => {
  it('does not count as an answer, but a different value next to it does', () => {
    expect(computeSignStrength('number', 'the 12 and the 13', 'is it 12?')).toBe(1)
    expect(computeSignStrength('number', 'the 12 and the 12', 'is it 12?')).toBe(0)
    expect(computeSignStrength('person', 'it was James then.', 'was it james?')).toBe(0)
    expect(hasAnswerSign('person', 'it was James then.', 'Was it JAMES?')).toBe(false)
    expect(hasAnswerSign('time', 'In 1908 and in 1910.', 'What was in 1908?')).toBe(true)
  })

  it('counts for reasons and definitions, since every such question contains their sign words', () => {
    expect(computeSignStrength('reason', 'because it rained', 'is it so because it rained?')).toBe(1)
    expect(computeSignStrength('definition', 'a lamp is a light', 'what is a lamp?')).toBe(1)
  })

  it('leaves the strength to a weaker sign of the same type', () => {
    expect(computeSignStrength('time', 'in 1908 on a Monday', 'what was in 1908?')).toBe(0.8)
    expect(computeSignStrength('money', '$5 for 3 doors', 'why $5?')).toBe(0.4)
  })

  it('does not change the result of repeated calls', () => {
    for (let i = 0; i < 3; i++) expect(computeSignStrength('time', 'built in 1908', '')).toBe(1)
  })
})
