import { describe, expect, it } from 'vitest'
import { type AnswerType, answerType } from '../../../../src/engine/retrieval/query/question/answer-type.js'

/** Questions in English, German, French, Spanish and Chinese, by what they ask for. */
const QUESTIONS: Record<Exclude<AnswerType, 'any'>, string[]> = {
  percent: [
    'What share of the members voted?',
    'How many percent of it is water?',
    'Wieviel Prozent der Mitglieder stimmten ab?',
    'Welcher Anteil ist Wasser?',
    'Quel pourcentage des membres a voté ?',
    '¿Qué porcentaje de los socios votó?',
    '水占百分之几？',
    '女性所占比例是多少',
  ],
  money: [
    'How much is a ticket?',
    'What is the monthly rent?',
    'How expensive is it?',
    'Was kostet eine Karte?',
    'Wie teuer ist die Karte?',
    'Wie hoch war die Miete?',
    'Combien coûte une place ?',
    'Quel est le tarif ?',
    '¿Cuánto cuesta la entrada?',
    '¿Cuál es el precio de la entrada?',
    '门票多少钱？',
  ],
  duration: [
    'How long does the tour take?',
    'How many weeks may a book be kept?',
    'How old is the bridge?',
    'Wie lange dauert die Führung?',
    'Wie viele Tage bleibt es offen?',
    'Combien de temps dure la visite ?',
    '¿Cuánto tiempo dura la visita?',
    '参观需要多久？',
    '要几个小时？',
  ],
  number: [
    'How many people live there?',
    'How tall is the tower?',
    'At which temperature does it melt?',
    'Wie viele Menschen wohnen dort?',
    'Wie hoch ist der Turm?',
    'Combien de membres ?',
    'Quelle est la hauteur de la tour ?',
    '¿Cuántos socios hay?',
    '塔有多高？',
    '有几个房间？',
  ],
  time: [
    'When did it open?',
    'In which century was it built?',
    'Wann wurde es gebaut?',
    'In welchem Jahr wurde es gebaut?',
    'Quand ouvre la salle ?',
    'En quelle année ?',
    '¿En qué año se fundó?',
    '哪年建成？',
    '什么时候开放？',
  ],
  place: [
    'Where is the key?',
    'Which city is it in?',
    'Wo liegt der Schlüssel?',
    'In welcher Stadt liegt es?',
    'Où se trouve la clé ?',
    'Dans quelle ville ?',
    '¿Dónde está la llave?',
    '钥匙在哪里？',
    '它位于哪个国家？',
  ],
  reason: [
    'Why did it close?',
    'What is the main reason?',
    'What caused the fire?',
    'Warum wurde es geschlossen?',
    'Pourquoi est-ce fermé ?',
    '¿Por qué cerró?',
    '为什么关闭？',
    '火灾的原因是？',
  ],
  person: [
    'Who wrote it?',
    'Which author wrote it?',
    'Wer hat es geschrieben?',
    'Qui a écrit le livre ?',
    '¿Quiénes lo escribieron?',
    '是谁写的？',
    '哪位导演拍的？',
  ],
  definition: [
    'What is a monsoon?',
    'What does the sign mean?',
    'Was ist ein Monsun?',
    "Qu'est-ce que la mousson ?",
    '¿Qué es un monzón?',
    '季风是什么？',
  ],
  truth: [
    'Is it open on Sundays?',
    'May dogs come in?',
    'Ist es sonntags offen?',
    'Est-ce que le musée est ouvert ?',
    '¿Hay visitas?',
    '星期天开放吗？',
    '是否开放？',
  ],
  name: [
    'Which bird sings first?',
    'Welches Buch liegt dort?',
    'Quels oiseaux chantent ?',
    '¿Cuáles cantan?',
    '哪种鸟会唱歌？',
  ],
}

describe.each(Object.entries(QUESTIONS))('the answer type %s', (type, questions) => {
  it.each(questions)('follows from "%s"', (question) => {
    expect(answerType(question)).toBe(type)
  })
})

describe('the answer type of a question', () => {
  it('defaults to any if no word of the question determines it', () => {
    for (const query of ['steam pressure limits', '', 'Öffnungszeiten der Halle', '季风的形成'])
      expect(answerType(query)).toBe('any')
  })

  it('follows the first word that determines a type', () => {
    expect(answerType('Where and when did it open?')).toBe('place')
    expect(answerType('When and where did it open?')).toBe('time')
    expect(answerType('The tower of the town: who built it, and why?')).toBe('person')
    expect(answerType('Did anybody say why?')).toBe('truth')
  })

  it('takes the narrower of two types that match the same words', () => {
    expect(answerType('How much does it cost?')).toBe('money')
    expect(answerType('How much water does it hold?')).toBe('number')
    expect(answerType('How many days does it take?')).toBe('duration')
    expect(answerType('How many dogs are there?')).toBe('number')
    expect(answerType('Which year was it?')).toBe('time')
    expect(answerType('What does it do?')).toBe('name')
  })

  it('ignores question words inside of other words and in statements', () => {
    expect(answerType('the whole showcase of whales')).toBe('any')
    expect(answerType('It is open on Sundays.')).toBe('any')
    expect(answerType('这条河被称为什么？')).not.toBe('reason')
  })
})
