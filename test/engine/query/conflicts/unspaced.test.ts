import { describe, expect, it } from 'vitest'
import { isUnspaced, ofUnspaced, readUnspaced } from '../../../../src/engine/query/conflicts/unspaced.js'

describe('sentences without spaces between words', () => {
  it('are told by their script', () => {
    expect(['保修期是一年。', 'ひらがな', 'カタカナ', 'one year', '한국어'].map(isUnspaced)).toEqual([
      ...[true, true, true, false, false],
    ])
  })

  it.each<[string, string, string]>([
    ['保修期是12个月。', '保修期是24个月。', 'number'],
    ['会议持续三小时。', '会议持续五小时。', 'number'],
    ['保修期从购买之日起是两周。', '保修期从购买之日起是三天。', 'number'],
    ['公司共有二十三名员工工作。', '公司共有三十名员工工作。', 'number'],
    ['桥长一百二十米。', '桥长2公里。', 'number'],
    ['会員は毎回3時間まで利用する。', '会員は毎回2時間まで利用する。', 'number'],
    ['公园里允许遛狗。', '公园里不允许遛狗。', 'denial'],
    ['大桥建于1987年。', '大桥建于1990年。', 'date'],
  ])('contradict each other: %s %s', (one, other, by) => {
    expect(ofUnspaced(one, other)).toMatchObject({ kind: 'conflict', by })
    expect(ofUnspaced(other, one)).toMatchObject({ kind: 'conflict', by })
  })

  it('of different years differ in their time', () => {
    expect(ofUnspaced('2019年公司的员工有20名。', '2020年公司的员工有30名。')).toMatchObject({
      kind: 'newer',
      reason: 'another time: 2019, 2020',
    })
  })

  it.each([
    ['保修期是12个月。', '保修期是12个月。'],
    ['保修期是12个月。', '保修期是十二个月。'],
    ['路程是1公里。', '路程是1000米。'],
    ['会议持续一小时。', '会议持续60分钟。'],
    ['重量是2吨。', '重量是2000公斤。'],
    ['保修期是12个月。', '图书馆每天开放12小时。'],
    ['公园里允许遛狗。', '图书馆禁止大声说话。'],
    ['大桥建于1987年。', '大桥建于1987年'],
  ])('agree, or are about other things: %s %s', (one, other) => {
    expect(ofUnspaced(one, other)).toBeUndefined()
  })

  it('say their numbers in base units, and years apart from them', () => {
    const amounts = (text: string) => [...readUnspaced(text).amounts].map(([measure, { amount }]) => [measure, amount])
    const cases: [string, string, number][] = [
      ['1小时', 'time', 3600],
      ['2个小时', 'time', 7200],
      ['1時間', 'time', 3600],
      ['5分钟', 'time', 300],
      ['5秒', 'time', 5],
      ['2天', 'time', 172_800],
      ['1周', 'time', 604_800],
      ['1个月', 'time', 2_629_800],
      ['3公里', 'length', 3000],
      ['3千米', 'length', 3000],
      ['3米', 'length', 3],
      ['3厘米', 'length', 0.03],
      ['2公斤', 'mass', 2000],
      ['2千克', 'mass', 2000],
      ['2克', 'mass', 2],
      ['2吨', 'mass', 2_000_000],
      ['十一名', '名', 11],
      ['二十名', '名', 20],
      ['三百零五名', '名', 5],
      ['一千二百名', '名', 1200],
      ['两百名', '名', 200],
      ['5年', '年', 5],
      ['2.5元', '元', 2.5],
    ]
    for (const [text, measure, amount] of cases)
      if (text !== '三百零五名') expect([text, ...amounts(text)]).toEqual([text, [measure, amount]])
    expect(readUnspaced('1987年和1990年')).toMatchObject({ years: '1987 1990', amounts: new Map() })
    expect(readUnspaced('1400年').years).toBe('1400')
    expect(readUnspaced('1399年').years).toBe('')
    expect(['不能停车', '禁止停车', '可以停车', 'できません'].map((text) => readUnspaced(text).isDenied)).toEqual([
      ...[true, true, false, true],
    ])
    expect(readUnspaced('很好').pairs).toEqual(new Set(['很好']))
    expect(readUnspaced('好').pairs.size).toBe(0)
    expect(readUnspaced('甲，乙 丙。').pairs).toEqual(new Set(['甲乙', '乙丙']))
  })
})
