/** Words that say the same of a fact, a group in a line; `!` before a group of verbs. */
const SAME_MEANING = `
!keep kept retain store save preserve retention storage aufbewahren aufbewahrt gespeichert speichern behalten
!host reside locate situated sit lie lies stand stands based headquartered gehostet liegt befindet standort location
!allow permit permission authorise authorize may erlaubt gestattet zulässig
!cost price fee charge tariff kostet kosten preis gebühr beträgt pay
!employ employee staff workforce worker personnel people person mitarbeiter beschäftigte angestellte
!begin began begun start commence beginnt start launch
!end ended finish conclude terminate endet ends
!complete finish build built construct construction erect gebaut erbaut errichtet
!found establish establishment create gegründet
!born birth geboren
!die died death gestorben
!discover discovery detect entdeckt
!invent inventor invention devise erfunden
!write wrote written author pen geschrieben verfasst novel
!compose composer composed
!paint painter painted
!design designer architect designed entworfen
!lead led head manage leader manager chief ceo chair leitet leiter leiterin
!own owner belong gehört besitzt
!make made maker manufacture produce producer manufacturer hergestellt
!use utilise utilize rely uses verwendet benutzt nutzt
!need require necessary requirement braucht benötigt erfordert
!receive get got entitle entitled grant obtain erhält erhalten bekommt
!last take takes lasts duration dauert dauer
!win won winner gewann gewonnen
!approve approval genehmigt
!hold held occur happen statt stattfinden
!meet met meeting tagt sitzung
!replace change swap exchange renew
!direct director directed
!light lit lighting illuminate
!organise organize organiser organizer
!cause caused trigger
!check inspect examine audit inspection
!deliver delivery ship shipping shipment arrive dispatch lieferung
!reach attain hits
!score goal scored
!measure measured
!support back
!file submit filing submission apply application register registration einreichen
!due deadline cut-off frist fällig
!cancel cancellation terminate
!expire expiry
!upload uploaded
!borrow loan lend
!vote voted
!weigh weight heavy schwer wiegt
!sink sank sunk
!inforce inforce
!ipo flotation
!publish publication release issue veröffentlicht
!respond response reply answer
!refund reimburse reimbursement
!serve served
!elect election elected gewählt
!marry married wed
!sell sale sold
!send sent
!visit visitor
!eat edible
!enter entry admission eintritt entrance
vacation leave holiday urlaub
year yearly annual annually
inhabitant resident population einwohner
client customer
room chamber
car vehicle automobile
doctor physician
medicine drug medication medicament
pill tablet
pupil student
contract agreement vertrag
law act statute
lorry truck
lift elevator
storey floor
company firm corporation business firma unternehmen
maximum largest greatest
centre center
picture image photo
document file
password passphrase
firm company
tall high height hoch höhe
deep depth tief tiefe
long length lang länge
wide width breadth breit breite
fast speed quick
old age alt
color colour farbe
notice
rebate discount
salary wage pay
illness disease sickness
illegal unlawful
railway rail train
campaign drive
hall auditorium
dosage dose
machine device appliance
purchase buy bought kaufen
trip journey travel
bicycle bike
letter mail
clockwise
boss supervisor
job position post
exam test examination
flat apartment
film movie
town city stadt
`

/** Two ends of a scale, `|` between them. */
const OPPOSITES = `
allow allowed permit permitted legal authorised erlaubt gestattet zulässig | forbid forbidden prohibit prohibited ban banned illegal disallowed verboten untersagt
enable enabled activate activated active eingeschaltet aktiviert | disable disabled deactivate deactivated inactive ausgeschaltet deaktiviert
mandatory compulsory obligatory required must verpflichtend pflicht | optional voluntary freiwillig
increase increased rise rose risen grow grew grown raise raised climb climbed improve improved gain gained steigt stieg erhöht gestiegen | decrease decreased fall fell fallen decline declined drop dropped shrink shrank reduce reduced lower lowered worsen worsened shrink sinkt sank gesunken verringert
safe harmless sicher ungefährlich | dangerous unsafe hazardous harmful gefährlich
edible | poisonous toxic inedible
public öffentlich | private secret confidential privat
open opened geöffnet offen | closed shut geschlossen
accept accepted uphold upheld approve approved grant granted angenommen genehmigt | reject rejected dismiss dismissed refuse refused deny denied decline abgelehnt
encrypted verschlüsselt | plaintext unencrypted unverschlüsselt
free gratis kostenlos gebührenfrei | paid chargeable kostenpflichtig
always immer | never nie niemals
clockwise | counterclockwise anticlockwise
true correct richtig wahr | false wrong incorrect untrue falsch
guilty schuldig | innocent acquitted unschuldig
alive living | dead extinct
available verfügbar | unavailable missing
include included enthalten | exclude excluded omit
success succeed succeeded successful passed bestanden | fail failed failure unsuccessful durchgefallen
support supported endorse endorsed | oppose opposed
win won | lose lost
permanent unlimited unbegrenzt | temporary limited befristet
automatic automatically automatisch | manual manually manuell
wireless | wired
reversible | irreversible
renewable | nonrenewable
hot warm | cold cool
wet humid | dry
early | late
empty | full
heavy | light
soft | hard
dark | light
profit profitable | loss unprofitable
alkaline | acidic
positive | negative
fixed constant | variable
liquid | solid
contagious infectious | noncontagious
transparent | opaque
domestic | foreign
opensource | proprietary
licensed | unlicensed
heated | unheated
male | female
import | export
strengthen strengthened | weaken weakened
confirm confirmed | refute refuted denied
stable | unstable
vegetarian vegan | meat
waterproof watertight | permeable
synchronous synchronously | asynchronous asynchronously
proportional directly | inversely
`

/** Things of one kind of which a thing usually has one. */
const ALTERNATIVES = `
red blue green yellow black white grey gray orange purple brown pink violet rot blau grün gelb schwarz weiß grau
wood steel aluminium aluminum plastic leather copper glass stone brick concrete iron cotton wool bronze silver gold titanium ceramic holz stahl
north south east west
utc gmt cet est pst
monthly weekly daily hourly yearly
oral intravenous subcutaneous intramuscular
single double triple
square round triangular rectangular oval
gas oil coal electric diesel petrol solar nuclear
`

/** Nouns that ask for one value: a thing has one default, one capital, one colour. */
const SINGLE = `
default capital colour color name currency language owner headquarters standard format protocol zone timezone code material
birthplace password branch port type licence license engine mascot motto primary main first successor chairman chairwoman
president mayor director captain editor founder author inventor manufacturer supplier landlord responsible sponsor contact
host hauptstadt farbe währung sprache standard
`

/** What of two that do it each excludes the other: who founded, who leads. */
const SOLE_DOER =
  'found write invent discover lead own make design compose paint approve capital win responsible author host produce direct cause organise'
/** Of what one place, matter or thing excludes the other. */
const SOLE_OBJECT = 'host keep born die hold default capital use inforce'
/** What is done with many things at once. */
const SHARED_DOING =
  'support join attend participate contribute live know want include offer have contain visit like sell work play teach provide cover feature has mention study export import serve'
/** What happens once, so that another date is another account of it. */
const ONCE =
  'born die found complete open discover invent due deadline file end begin inforce ipo publish elect expire sink marry ' +
  'sign launch close closes abolish introduce ratify adopt arrive crash patent release build cancel establish inaugurate ' +
  'premiere unveil settle destroy burn eröffnet gebaut gegründet geboren endet beginnt eingeführt unterzeichnet'
/** What is said of a last day: each of them in its own words. */
const LAST_DAY = 'due file end close closes expire publish open'
/** Measures of a thing that are not each other. */
const MEASURES =
  'tall deep long wide weigh last cost speed old temperature area volume radius diameter thickness power range capacity ' +
  'altitude distance'
/** What befalls or is done, each of which is another event. */
const EVENTS = 'die injure rescue arrest survive evacuate hire dismiss sell buy infect kill wound import export'

/** Words too general to tell one fact from another. */
const GENERAL =
  'period time total amount number maximum minimum limit rate level current currently up about all every each new use ' +
  'one two general usual usually normal normally typically also already still now today exactly only just people thing ' +
  'place part way kind case fully day date overall value figure recommend recommended set point per mandatory ' +
  'according state policy rule accord must shall please always whole entire own once valid standard apply applies size ' +
  'far often share count carry give gives given come go call become includes considered known run ' +
  'insgesamt etwa rund circa jeweils immer derzeit lang dauer'

/** Verbs that only carry a fact, and forms that a list of groups does not hold. */
const CARRIERS =
  'is are was were be been being am has have had do does did can cannot could may might must should will would shall ' +
  "isn't aren't wasn't weren't doesn't don't didn't can't won't hasn't haven't hadn't shouldn't mustn't " +
  'ist sind war waren wird werden wurde wurden kann können darf dürfen muss müssen hat haben hatte soll sollen ' +
  'lies stands went goes go came comes becomes became remains stays runs ran works worked gave gives carries carried ' +
  'opens opened closes closed starts started ends ended begins began speaks allows lets holds held takes took lasts ' +
  'seats fits turned rose fell increases decreases reduces raises lowers voted needs contains includes supports'

function words(line: string): string[] {
  return line.split(/[\s,]+/).filter((word) => word !== '')
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

export interface Vocabulary {
  /** the group that a stem belongs to, by its first word; the stem itself where there is none */
  concept: (stem: string) => string
  /** stems of a concept's group */
  stemsOf: (concept: string) => readonly string[]
  /** which end of which scale */
  opposite: (stem: string) => { scale: string; end: 1 | -1 } | undefined
  /** stems of both ends of a scale */
  scaleOf: (scale: string) => readonly string[]
  alternative: (stem: string) => number | undefined
  isVerb: (word: string) => boolean
  single: ReadonlySet<string>
  soleDoer: ReadonlySet<string>
  soleObject: ReadonlySet<string>
  sharedDoing: ReadonlySet<string>
  once: ReadonlySet<string>
  measures: ReadonlySet<string>
  lastDay: ReadonlySet<string>
  events: ReadonlySet<string>
  general: ReadonlySet<string>
}

/** Everything by stem. @param stem of one word */
export function readVocabulary(stem: (word: string) => string): Vocabulary {
  const groups = new Map<string, string>()
  const isNoun =
    /(?:er|or|tion|sion|ment|ance|ence|ship|ee|ure|ant|staff|chief|boss|people|person|personnel|novel|loan|goal|tariff|price|fee|birth|death|sale)$/u
  const verbs = new Set(words(CARRIERS))
  for (const line of lines(SAME_MEANING)) {
    const isVerbs = line.startsWith('!')
    const members = words(line.replace('!', ''))
    const name = stem(members[0] ?? '')
    for (const member of members) {
      if (!groups.has(stem(member))) groups.set(stem(member), name)
      if (isVerbs && !isNoun.test(member)) verbs.add(member)
    }
  }
  const concept = (term: string): string => groups.get(term) ?? term
  const stems = new Set([...verbs].map(stem))
  const members = new Map<string, string[]>()
  for (const [term, name] of groups) members.set(name, [...(members.get(name) ?? []), term])
  const scales = new Map<string, { scale: string; end: 1 | -1 }>()
  for (const line of lines(OPPOSITES)) {
    const ends = line.split('|').map((end) => words(end).map(stem))
    for (const [place, end] of ends.entries())
      for (const term of end)
        if (!scales.has(term)) scales.set(term, { scale: ends[0]?.[0] ?? '', end: place === 0 ? 1 : -1 })
  }
  const alternatives = new Map<string, number>()
  for (const [place, line] of lines(ALTERNATIVES).entries())
    for (const word of words(line)) alternatives.set(stem(word), place)
  const setOf = (list: string): Set<string> => new Set(words(list).map((word) => concept(stem(word))))
  return {
    concept,
    stemsOf: (name) => members.get(name) ?? [name],
    opposite: (term) => scales.get(term),
    scaleOf: (name) => [...scales].flatMap(([term, { scale }]) => (scale === name ? [term] : [])),
    alternative: (term) => alternatives.get(term),
    isVerb: (word) => verbs.has(word) || (/(?:s|ed|ing)$/u.test(word) && stems.has(stem(word))),
    single: setOf(SINGLE),
    soleDoer: setOf(SOLE_DOER),
    soleObject: setOf(SOLE_OBJECT),
    sharedDoing: setOf(SHARED_DOING),
    once: setOf(ONCE),
    measures: setOf(MEASURES),
    lastDay: setOf(LAST_DAY),
    events: setOf(EVENTS),
    general: new Set(words(GENERAL).map(stem)),
  }
}
