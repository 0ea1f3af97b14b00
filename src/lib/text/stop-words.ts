/** Words too common to index: the 33 of Lucene's English default list. */
export const DOCUMENT_STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they ' +
    'this to was will with'
  ).split(' '),
)

/** Words that say nothing of what a question is about: the above, question words, auxiliaries and pronouns. */
export const QUERY_STOP_WORDS: ReadonlySet<string> = new Set([
  ...DOCUMENT_STOP_WORDS,
  ...(
    'what which who whom whose when where why how do does did has have had can could should would may might must i ' +
    'you he she we our your my his her its from about than been being were am so any some also between during ' +
    'through over under more most other only own same too very just because until while both each few nor'
  ).split(' '),
])

/**
 * Chinese question words. Chinese is cut into pairs of characters, so a question word left in place would spoil the
 * pairs around it: queries are cut apart at these instead. Longest first.
 */
export const CHINESE_QUESTION_WORDS =
  /为什么|為什麼|是什么|是什麼|什么|什麼|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣|如何|哪一年|哪一|哪里|哪裡|哪些|哪个|哪個|哪年|哪|多少|是否|请问|請問|谁|誰|吗|嗎|呢/gu
