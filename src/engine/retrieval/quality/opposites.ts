import { foldAccents } from '../../../lib/text/fold.js'

/**
 * Opposites, one axis per line, its two sides separated by a slash. An entry matches all words that begin with it; one
 * with `=` matches only itself.
 */
const AXES = `
=first earliest erst premier primer 首次 第一 首班 / =last latest final letzt dernier ultim 最后 末班
minim mindest =least lowest 最少 最低 至少 / maxim hochst =most highest 最多 最高 最大
open =opens offn geoffn ouvr =ouvert abre =abrir abier apertura 开门 开放 / clos shut schlie geschlossen ferm cierr =cerrar 关门 闭馆
begin start anfang debut commenc comienz empiez inicio 开始 / =end =ends finish schluss =ende =fin termina 结束
adult erwachsen adulte 成人 / child kid kind enfant nino 儿童 学生 student studier etudiant estudiant
summer sommer =ete verano 夏 / winter hiver invierno 冬
buy purchas kauf achet compr 购买 / sell verkauf vend 出售
arriv ankunft ankomm arriva llega 到达 / depart =leave abfahr =part sali 出发
include inbegriff inclus inclui 包括 / exclud ausgeschloss exclu 不包括
domestic inland 国内 / abroad foreign overseas ausland etranger extranjer 国外 海外
tenant mieter locatair inquilin 租客 / landlord vermiet proprietair propietari casero 房东
annual yearly jahrlich annuel anual 每年 / monthly monatlich mensuel mensual 每月
big large gross grand 大 / small little klein petit pequen 小(?!时)
breakfast fruhstuck =petit-dejeuner desayun 早餐 / lunch dinner mittag abendess dejeuner almuerzo cena 午餐 晚餐
`

interface OppositeAxis {
  sides: readonly [RegExp, RegExp]
}

function toPattern(words: string): RegExp {
  const each = words
    .trim()
    .split(' ')
    .map((word) =>
      /\p{Script=Han}/u.test(word)
        ? word
        : word.startsWith('=')
          ? `(?<!\\p{L})${word.slice(1)}(?!\\p{L})`
          : `(?<!\\p{L})${word}`,
    )
  return new RegExp(each.join('|'), 'u')
}

const OPEN_AXIS = 2
const BEGIN_AXIS = 3
const PARSED_AXES: readonly OppositeAxis[] = AXES.trim()
  .split('\n')
  .map((line) => {
    const [one = '', other = ''] = line.split(' / ')
    return { sides: [toPattern(one), toPattern(other)] }
  })
/** Until when something is open is when it closes. */
const UNTIL = /(?<!\p{L})(?:until|till|bis|jusqu|hasta)(?!\p{L})|到[几什]|之前/u

/** Finds the sides of opposites in a question, by axis: -1 or 1. */
export function findSides(question: string): ReadonlyMap<number, -1 | 1> {
  const text = foldAccents(question.toLowerCase())
  const until = UNTIL.test(text)
  const sides = new Map<number, -1 | 1>()
  for (const [axis, { sides: both }] of PARSED_AXES.entries()) {
    const one = both[0].test(text)
    const other = both[1].test(text)
    if (one === other) continue
    const isEnd = (axis === OPEN_AXIS || axis === BEGIN_AXIS) && until
    sides.set(axis, other || isEnd ? 1 : -1)
  }
  return sides
}

/** Whether a term belongs to an axis. */
export function isOnAxis(axis: number, term: string): boolean {
  return PARSED_AXES[axis]?.sides.some((side) => side.test(term)) === true
}

/** Whether two questions contain opposite sides of an axis. */
export function areOpposed(one: ReadonlyMap<number, -1 | 1>, other: ReadonlyMap<number, -1 | 1>): boolean {
  for (const [axis, side] of one) if (other.get(axis) === -side) return true
  return false
}

const NEGATED =
  /(?<!\p{L})(?:not|never|without|cannot|nicht|keine?[nrms]?|nie|ohne|pas|sans|jamais|no|nunca|sin)(?!\p{L})|n['’]t(?!\p{L})|没有|不(?=[能可得需会该])(?<![能可是要会]不)|未/u

/** Whether a question is negated. */
export function isNegated(question: string): boolean {
  return NEGATED.test(question.toLowerCase())
}
