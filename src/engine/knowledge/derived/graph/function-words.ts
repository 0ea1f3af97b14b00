/** English words that occur next to names and noun phrases but do not belong to them. */

export const splitWords = (text: string): string[] => text.split(/\s+/)

export const PREPOSITIONS: ReadonlySet<string> = new Set(
  splitWords(
    `about above across after against along alongside amid among around as at before behind below beneath beside
     besides between beyond by concerning despite down during except for from in inside into like near off on onto
     out outside over past per regarding round since than through throughout till to toward towards under underneath
     unlike until up upon versus via vs with within without of`,
  ),
)

export const DETERMINERS: ReadonlySet<string> = new Set(
  splitWords(
    `the a an this that these those its our their his her my your some any each every no all both several many most
     few another other such more less only one two three four five six seven eight nine ten various certain same own last next previous`,
  ),
)

export const PRONOUNS: ReadonlySet<string> = new Set(
  splitWords(
    `it he she they we you i them him us me who which what whom whose that this these those there here one ones
     someone somebody something anyone anything everyone everything nobody nothing none itself himself herself
     themselves others latter former each both all`,
  ),
)

export const CONJUNCTIONS: ReadonlySet<string> = new Set(
  splitWords(
    'and or but nor so yet because although though while when whenever where whereas if unless once whether since',
  ),
)

export const AUXILIARIES: ReadonlySet<string> = new Set(
  splitWords(
    `is are was were be been being am has have had having do does did can could may might must shall should will would
     cannot can't couldn't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't hasn't haven't hadn't
     shouldn't`,
  ),
)

/** Adverbs between a subject and its verb, or a verb and its object. */
export const ADVERBS: ReadonlySet<string> = new Set(
  splitWords(
    `also then later now still already often always usually never ever first finally eventually recently soon once
     again just even thus therefore hence however moreover furthermore nevertheless instead together successfully
     largely mostly mainly partly not only currently formerly today yesterday meanwhile afterwards subsequently
     heavily strongly directly solely entirely typically generally previously originally initially jointly rather
     too very much well long further normally officially fully primarily really simply commonly itself themselves
     thereby almost nearly overseas quite perhaps himself herself alone internally far away ultimately sometimes effectively immediately significantly`,
  ),
)

/** Common verb forms, which end a noun phrase. */
export const VERBS: ReadonlySet<string> = new Set(
  splitWords(
    `say says said suggest suggests suggested show shows showed shown indicate indicates indicated report reports
     reported find finds found think thinks thought believe believes believed know knows knew known mean means meant
     become becomes became remain remains remained seem seems seemed appear appears appeared make makes made making
     take takes took taken taking give gives gave given giving get gets got come comes came go goes went gone see sees
     saw seen use uses used using need needs needed require requires required allow allows allowed let lets help helps
     helped keep keeps kept begin begins began begun start starts started stop stops stopped end ended run runs ran
     work works worked working lead leads led leading cause causes caused causing produce produces produced producing
     provide provides provided providing include includes included including contain contains contained containing
     consist consists comprise comprises comprised depend depends depended rely relies relied belong belongs belonged
     locate located situated based called named told tell tells hold holds held play plays played put puts set sets
     follow follows followed bring brings brought lose loses lost win wins won pay pays paid meet meets met serve
     serves served buy buys bought sell sells sold send sends sent build builds built write writes wrote written
     acquire acquires acquired own owns owned found founded create creates created develop develops developed replace
     replaces replaced increase increases increased decrease decreases decreased reduce reduces reduced result results
     resulted occur occurs occurred happen happens happened exist exists existed die dies died live lives lived born
     describe describes described define defines defined consider considers considered propose proposes proposed
     obtain obtained determine determined determines study studied compared compare compares increased associated
     want wants wanted try tries tried leave leaves left join joins joined grow grows grew add adds added costs cost
     according due available able related supports supported support ensure ensures demonstrate demonstrates
     demonstrated reveal reveals revealed confirm confirms confirmed affect affects affected induce induces induced
     inhibit inhibits inhibited activate activates activated regulate regulates regulated promote promotes promoted
     enhance enhances enhanced encode encodes encoded mediate mediates mediated prevent prevents prevented block blocks
     express expresses bind binds interact interacts associate associates improve improves impair impairs suppress
     suppresses suppressed stimulate stimulates stimulated control controls modulate modulates predict predicts
     predicted involve involves involved represent represents represented identify identifies identified exhibit
     exhibits exhibited maintain maintains maintained evaluate evaluated assess assessed
     announce announces announced agree agrees agreed claim claims claimed argue argues argued publish published`,
  ),
)

const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  [PREPOSITIONS, DETERMINERS, PRONOUNS, CONJUNCTIONS, AUXILIARIES, ADVERBS].flatMap((some) => [...some]),
)

/** Whether a word, in lower case, cannot be a noun phrase alone. */
export function isFunctionWord(word: string): boolean {
  return FUNCTION_WORDS.has(word)
}
