import { stemOf } from './stem.js'

/**
 * Words of opposite meaning, `|` between the two ends of a scale. Neither grammar nor vectors show that two words
 * exclude each other: vectors place them next to each other.
 */
const OPPOSITES = `
allow allowed permit permitted legal erlaubt gestattet zulässig autorisé permis permitido | forbid forbidden prohibit prohibited ban banned illegal disallowed verboten untersagt interdit prohibido
enable enabled activate activated active aktiviert eingeschaltet activé activado | disable disabled deactivate deactivated inactive deaktiviert ausgeschaltet désactivé desactivado
mandatory compulsory obligatory required verpflichtend pflicht obligatoire obligatorio | optional voluntary freiwillig facultatif facultativo
increase increased rise rose risen grow grew grown raise raised climb climbed steigt stieg gestiegen erhöht augmenté aumentó | decrease decreased fall fell fallen decline declined drop dropped reduce reduced lower lowered sinkt sank gesunken verringert diminué disminuyó
safe harmless sicher ungefährlich | dangerous unsafe hazardous harmful gefährlich
public öffentlich | private secret confidential privat
open opened geöffnet offen ouvert abierto | closed close shut geschlossen fermé cerrado
accept accepted approve approved angenommen genehmigt accepté aceptado | reject rejected refuse refused deny denied abgelehnt refusé rechazado
encrypted verschlüsselt | plaintext unencrypted unverschlüsselt
free gratis kostenlos gebührenfrei gratuit gratuito | paid chargeable kostenpflichtig payant
true correct richtig wahr | false wrong incorrect falsch
available verfügbar | unavailable missing
include included enthalten inclus incluido | exclude excluded
pass passed succeed succeeded successful bestanden | fail failed failure durchgefallen
support supported | oppose opposed
win won | lose lost
permanent unlimited unbegrenzt | temporary limited befristet
automatic automatically automatisch | manual manually manuell
always immer toujours siempre | never nie niemals jamais nunca
full voll | empty leer
hot warm | cold
wet | dry
early | late
guilty | innocent acquitted
alive | dead
edible | poisonous toxic inedible
`
const NEGATORS = new Set(
  'not never no none neither nor without cannot nicht kein keine keinen keiner keines keinem nie niemals ohne ne pas jamais aucun aucune sans non nunca ningún ninguna sin tampoco 不 没有 沒有 禁止 不能 不可以 不得 未 ない'.split(
    ' ',
  ),
)
/** Prefixes that negate an adjective: suitable, unsuitable. */
const NEGATING_PREFIX = /^(?:un|in|im|ir|il|dis|non)(?=\p{L}{4})/u

export interface ScaleEnd {
  scale: number
  end: 1 | -1
}

let endByStem: Map<string, ScaleEnd> | undefined

/** Finds the scale that a stem belongs to, and its end. */
export function findScaleEnd(stem: string): ScaleEnd | undefined {
  endByStem ??= new Map(
    OPPOSITES.trim()
      .split('\n')
      .flatMap((line, scale) =>
        line.split('|').flatMap((words, side) =>
          words
            .trim()
            .split(' ')
            .map((word): [string, ScaleEnd] => [stemOf(word), { scale, end: side === 0 ? 1 : -1 }]),
        ),
      ),
  )
  return endByStem.get(stem)
}

/** Scale of permission. */
export const getPermissionScale = (): number => findScaleEnd(stemOf('allowed'))?.scale ?? 0

export function isNegator(token: string): boolean {
  return NEGATORS.has(token) || /n['’]t$/u.test(token)
}

/** Whether one word is the other with a negating prefix. */
export function differByNegatingPrefix(one: string, two: string): boolean {
  const [long, short] = one.length > two.length ? [one, two] : [two, one]
  return NEGATING_PREFIX.test(long) && stemOf(long.replace(NEGATING_PREFIX, '')) === stemOf(short)
}
