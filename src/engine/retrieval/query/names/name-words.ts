const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/).filter((word) => word !== ''))

/** Words that begin a question or a request; capitalised there, they are not names. */
export const FIRST_WORDS = words(`
  who whom whose what which when where why how whether if is are was were be been am do does did done has have had can
  could may might must shall should will would isn't aren't wasn't weren't don't doesn't didn't hasn't haven't can't
  the a an my your our their his her its this that these those some any each every all both one no not and or but so
  in on at by for from of to with about between among during after before since until under over into through within
  name list give tell compare explain describe show summarise summarize find calculate define state identify provide
  according besides please also then there here it he she they we you i as than like other
  qui que quoi quel quelle quels quelles quand où comment pourquoi combien est sont le la les un une des du de en dans
  qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas es son el los las una en por para con
  quem qual quais quando onde como quanto quantos chi cosa quale quali dove come perché quanto quanti è sono il lo gli
  wer was wann wo wie warum wieso welche welcher welches wessen wem wen ist sind war waren hat haben der die das ein eine
  wie wanneer waar hoe waarom welke hoeveel wat
`)

/** Words that many names share: in `Bank of England` only `England` is distinctive. */
export const GENERIC_WORDS = words(`
  inc incorporated corp corporation co company companies ltd limited llc llp plc ag gmbh kg sa se nv bv spa ab group
  holding holdings trust fund bank university college school institute institution academy center centre department
  ministry office agency commission committee council court board association society foundation union league party
  club team church temple museum library hospital station airport street road avenue square park garden bridge river
  lake sea ocean mount mountain island islands valley bay cape city town county state states province region district
  republic kingdom empire dynasty army navy force forces war battle treaty act law bill code amendment constitution
  agreement convention declaration revolution crisis conference olympics games cup award prize festival
  king queen prince princess duke earl lord lady sir saint pope emperor president minister chancellor secretary general
  doctor professor mr mrs ms dr prof north south east west northern southern eastern western central upper lower new
  old great united national international federal royal first second third world day week month year years
  annual report form section chapter table figure page appendix part volume version edition act scene
  celsius fahrenheit kelvin english test system model method theory effect law syndrome disease
`)

/** Lower-case words whose possessive is not a name. */
export const NOT_POSSESSORS = words(`
  what that there here where who how when it he she let today yesterday tomorrow tonight year month week day night
  morning people women men children everyone someone anyone everybody somebody anybody nobody else other another
  company firm city country nation world state author patient customer employee user driver owner parent child person
  woman mother father brother sister master bachelor debtor creditor lender buyer seller government president
`)

/** Acronyms of a measure, a role or a format: a passage may spell them out or omit them. */
export const COMMON_ACRONYMS = words(`
  USD EUR GBP JPY CNY CHF US USA UK EU UN GDP CEO CFO COO CTO CIO HR IT PR PC TV DVD CD AI ML API URL URI HTTP HTTPS FTP
  SSH SQL CSV PDF XML JSON HTML CSS FAQ ID PIN OK VAT TAX IPO ROI ROA ROE EPS EBIT EBITDA COGS DPO DSO DIO SGA SG&A R&D
  PP&E PPE M&A P&L KPI SLA Q&A B2B B2C BC AD BCE CE AM PM GMT UTC DIY RAM CPU GPU USB LED LCD ATM SMS GPS WIFI VPN MVP
`)
