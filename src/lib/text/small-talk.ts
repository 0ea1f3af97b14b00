type SmallTalkKind = 'greeting' | 'wellbeing' | 'thanks' | 'farewell'

/** Small talk of a language and the replies to it. Phrases are separated by `|`. */
interface SmallTalk {
  phrases: Readonly<Record<SmallTalkKind, string>>
  /** phrases that may accompany any of them */
  companions: string
  replies: Readonly<Record<SmallTalkKind, string>>
}

const SMALL_TALK: readonly SmallTalk[] = [
  {
    phrases: {
      greeting: 'hello|hi|hey|hiya|howdy|greetings|good morning|good afternoon|good evening|good day|nice to meet you',
      wellbeing: 'how are you|how are you doing|how are you today|how is it going|hows it going|whats up|how do you do',
      thanks:
        'thanks|thank you|thx|ty|cheers|many thanks|thanks a lot|thank you so much|much appreciated|appreciate it',
      farewell:
        'bye|goodbye|good bye|see you|see you later|good night|have a nice day|have a good day|take care|farewell',
    },
    companions:
      'there|all|everyone|everybody|team|bot|assistant|friend|again|so much|very much|a lot|ok|okay|great|perfect|cool|nice|for your help|for the help|for now|that is all|thats all|you|to you|and|my',
    replies: {
      greeting: 'Hello! What would you like to know?',
      wellbeing: 'I am well, thank you. What would you like to know?',
      thanks: 'You are welcome. Ask whenever there is something else.',
      farewell: 'Goodbye!',
    },
  },
  {
    phrases: {
      greeting: 'hallo|guten tag|guten morgen|guten abend|servus|moin|grüß gott|grüezi',
      wellbeing: 'wie geht es dir|wie geht es ihnen|wie gehts|wie geht s',
      thanks: 'danke|danke schön|dankeschön|vielen dank|besten dank|danke sehr|herzlichen dank',
      farewell: 'tschüss|tschüß|auf wiedersehen|bis bald|bis später|gute nacht|schönen tag noch',
    },
    companions: 'zusammen|an alle|super|gut|und|dir|ihnen',
    replies: {
      greeting: 'Hallo! Was möchten Sie wissen?',
      wellbeing: 'Danke, gut. Was möchten Sie wissen?',
      thanks: 'Gern geschehen. Fragen Sie, wann immer es noch etwas gibt.',
      farewell: 'Auf Wiedersehen!',
    },
  },
  {
    phrases: {
      greeting: 'bonjour|salut|bonsoir|coucou',
      wellbeing: 'comment ça va|ça va|comment allez vous|comment vas tu',
      thanks: 'merci|merci beaucoup|merci bien|mille mercis',
      farewell: 'au revoir|à bientôt|à plus tard|bonne nuit|bonne journée',
    },
    companions: 'à tous|tout le monde|parfait|et|à vous',
    replies: {
      greeting: 'Bonjour ! Que voulez-vous savoir ?',
      wellbeing: 'Bien, merci. Que voulez-vous savoir ?',
      thanks: 'Avec plaisir. Posez-moi toute autre question.',
      farewell: 'Au revoir !',
    },
  },
  {
    phrases: {
      greeting: 'hola|buenos días|buenas tardes|buenas noches|buenas',
      wellbeing: 'cómo estás|qué tal|cómo está usted|como estas|que tal',
      thanks: 'gracias|muchas gracias|mil gracias',
      farewell: 'adiós|adios|hasta luego|hasta pronto|hasta mañana',
    },
    companions: 'a todos|perfecto|vale|y',
    replies: {
      greeting: '¡Hola! ¿Qué quiere saber?',
      wellbeing: 'Bien, gracias. ¿Qué quiere saber?',
      thanks: 'De nada. Pregunte cuando quiera.',
      farewell: '¡Adiós!',
    },
  },
  {
    phrases: {
      greeting: 'ciao|buongiorno|buonasera|salve',
      wellbeing: 'come stai|come va|come sta',
      thanks: 'grazie|grazie mille|molte grazie|tante grazie',
      farewell: 'arrivederci|a presto|buonanotte|buona giornata',
    },
    companions: 'a tutti|perfetto|e',
    replies: {
      greeting: 'Ciao! Che cosa vuole sapere?',
      wellbeing: 'Bene, grazie. Che cosa vuole sapere?',
      thanks: 'Prego. Chieda pure altro.',
      farewell: 'Arrivederci!',
    },
  },
  {
    phrases: {
      greeting: 'olá|oi|bom dia|boa tarde|boa noite',
      wellbeing: 'como está|tudo bem|como vai',
      thanks: 'obrigado|obrigada|muito obrigado|muito obrigada',
      farewell: 'tchau|até logo|até mais|até amanhã',
    },
    companions: 'a todos|perfeito',
    replies: {
      greeting: 'Olá! O que gostaria de saber?',
      wellbeing: 'Bem, obrigado. O que gostaria de saber?',
      thanks: 'De nada. Pergunte quando quiser.',
      farewell: 'Até logo!',
    },
  },
  {
    phrases: {
      greeting: 'hoi|goedemorgen|goedemiddag|goedenavond|goedendag',
      wellbeing: 'hoe gaat het|hoe gaat het met je',
      thanks: 'bedankt|dank je|dank je wel|dank u|dank u wel|dankjewel',
      farewell: 'tot ziens|doei|tot straks|welterusten',
    },
    companions: 'allemaal|prima',
    replies: {
      greeting: 'Hallo! Wat wilt u weten?',
      wellbeing: 'Goed, dank u. Wat wilt u weten?',
      thanks: 'Graag gedaan. Vraag gerust verder.',
      farewell: 'Tot ziens!',
    },
  },
  {
    phrases: {
      greeting: 'привет|здравствуйте|здравствуй|добрый день|доброе утро|добрый вечер',
      wellbeing: 'как дела|как вы|как поживаете',
      thanks: 'спасибо|большое спасибо|спасибо большое|благодарю',
      farewell: 'пока|до свидания|до встречи|спокойной ночи',
    },
    companions: 'всем|вам|и',
    replies: {
      greeting: 'Здравствуйте! Что вы хотите узнать?',
      wellbeing: 'Хорошо, спасибо. Что вы хотите узнать?',
      thanks: 'Пожалуйста. Спрашивайте ещё.',
      farewell: 'До свидания!',
    },
  },
  {
    phrases: {
      greeting: '你好|您好|早上好|下午好|晚上好|大家好|哈喽|嗨',
      wellbeing: '你好吗|最近好吗',
      thanks: '谢谢|謝謝|多谢|谢谢你|谢谢您|非常感谢|感谢',
      farewell: '再见|再見|拜拜|晚安|回头见',
    },
    companions: '啊|呀|了|好的',
    replies: {
      greeting: '您好！您想了解什么？',
      wellbeing: '很好，谢谢。您想了解什么？',
      thanks: '不客气，有问题随时问我。',
      farewell: '再见！',
    },
  },
  {
    phrases: {
      greeting: 'こんにちは|こんばんは|おはよう|おはようございます|はじめまして',
      wellbeing: 'お元気ですか|元気ですか',
      thanks: 'ありがとう|ありがとうございます|ありがとうございました|どうも',
      farewell: 'さようなら|またね|おやすみ|おやすみなさい|失礼します',
    },
    companions: '皆さん',
    replies: {
      greeting: 'こんにちは。何をお知りになりたいですか。',
      wellbeing: '元気です。何をお知りになりたいですか。',
      thanks: 'どういたしまして。ほかにもあればお尋ねください。',
      farewell: 'さようなら。',
    },
  },
  {
    phrases: {
      greeting: '안녕|안녕하세요|안녕하십니까|반갑습니다|좋은 아침|좋은 아침입니다',
      wellbeing: '잘 지내세요|잘 지냈어요|어떻게 지내세요',
      thanks: '감사합니다|고맙습니다|고마워요|고마워|감사해요|감사',
      farewell: '안녕히 계세요|안녕히 가세요|잘 가|잘 가요|또 만나요|다음에 봐요|좋은 하루 되세요|안녕히 주무세요',
    },
    companions: '여러분|모두|정말|너무|대단히',
    replies: {
      greeting: '안녕하세요! 무엇을 알고 싶으신가요?',
      wellbeing: '잘 지냅니다, 감사합니다. 무엇을 알고 싶으신가요?',
      thanks: '천만에요. 다른 것도 언제든 물어보세요.',
      farewell: '안녕히 가세요!',
    },
  },
  {
    phrases: {
      greeting: 'مرحبا|مرحباً|أهلا|أهلاً|اهلا|أهلا وسهلا|أهلاً وسهلاً|السلام عليكم|صباح الخير|مساء الخير',
      wellbeing: 'كيف حالك|كيف حالكم|كيف الحال',
      thanks: 'شكرا|شكراً|شكرا لك|شكراً لك|شكرا جزيلا|شكراً جزيلاً|ألف شكر',
      farewell: 'مع السلامة|إلى اللقاء|الى اللقاء|وداعا|وداعاً|تصبح على خير',
    },
    companions: 'جميعا|جميعاً|لكم|ورحمة الله وبركاته',
    replies: {
      greeting: 'مرحبا! ماذا تودّ أن تعرف؟',
      wellbeing: 'بخير، شكرا. ماذا تودّ أن تعرف؟',
      thanks: 'عفوا. اسأل متى شئت.',
      farewell: 'مع السلامة!',
    },
  },
  {
    phrases: {
      greeting: 'merhaba|merhabalar|selam|selamlar|günaydın|tünaydın|iyi günler|iyi akşamlar',
      wellbeing: 'nasılsın|nasılsınız|naber|ne haber',
      thanks: 'teşekkürler|teşekkür ederim|teşekkür ederiz|sağ ol|sağol|sağ olun',
      farewell: 'hoşça kal|hoşçakal|hoşça kalın|güle güle|görüşürüz|görüşmek üzere|iyi geceler',
    },
    companions: 'herkese|çok|tamam|harika',
    replies: {
      greeting: 'Merhaba! Ne öğrenmek istersiniz?',
      wellbeing: 'İyiyim, teşekkürler. Ne öğrenmek istersiniz?',
      thanks: 'Rica ederim. Başka bir sorunuz olursa sorun.',
      farewell: 'Hoşça kalın!',
    },
  },
  {
    phrases: {
      greeting: 'cześć|dzień dobry|dobry wieczór|witam|witaj|hej',
      wellbeing: 'jak się masz|co słychać|jak leci|co u ciebie',
      thanks: 'dziękuję|dziękujemy|dzięki|dziękuję bardzo|bardzo dziękuję|wielkie dzięki',
      farewell: 'do widzenia|do zobaczenia|na razie|pa pa|dobranoc|miłego dnia',
    },
    companions: 'wszystkim|świetnie|wam',
    replies: {
      greeting: 'Dzień dobry! Co chcesz wiedzieć?',
      wellbeing: 'Dobrze, dziękuję. Co chcesz wiedzieć?',
      thanks: 'Nie ma za co. Pytaj dalej, kiedy zechcesz.',
      farewell: 'Do widzenia!',
    },
  },
]

const PUNCTUATION = /['’`´]/gu
/** the rest of a lower-cased capital İ */
const DOT_ABOVE = /i\u0307/gu
const NON_WORD = /[^\p{L}\p{M}\p{N}]+/gu
/** written without spaces, so that a phrase may end anywhere */
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u
const MAX_CHARACTERS = 120
/** If a message has several kinds, the last one in this order is answered. */
const KINDS: readonly SmallTalkKind[] = ['greeting', 'wellbeing', 'thanks', 'farewell']

interface SmallTalkPhrase {
  text: string
  /** undefined for a phrase that only accompanies others */
  kind: SmallTalkKind | undefined
  talk: SmallTalk
}

const PHRASES: readonly SmallTalkPhrase[] = SMALL_TALK.flatMap((talk) => [
  ...KINDS.flatMap((kind) => splitPhrases(talk.phrases[kind]).map((text): SmallTalkPhrase => ({ text, kind, talk }))),
  ...splitPhrases(talk.companions).map((text): SmallTalkPhrase => ({ text, kind: undefined, talk })),
]).sort((a, b) => b.text.length - a.text.length)

function splitPhrases(list: string): string[] {
  return list.split('|')
}

/**
 * The reply to a message that is only a greeting, thanks or a farewell, in its language. Undefined for any other
 * message, also for a question that begins with a greeting.
 */
export function findSmallTalkReply(message: string): string | undefined {
  if (message.length > MAX_CHARACTERS) return undefined
  const words = message.normalize('NFKC').toLowerCase().replace(DOT_ABOVE, 'i')
  let rest = words.replace(PUNCTUATION, '').replace(NON_WORD, ' ').trim()
  const found: SmallTalkPhrase[] = []
  while (rest !== '') {
    const text = rest
    const next = PHRASES.find((phrase) => startsWithPhrase(text, phrase.text))
    if (next === undefined) return undefined
    found.push(next)
    rest = rest.slice(next.text.length).trimStart()
  }
  const kind = KINDS.findLast((candidate) => found.some((phrase) => phrase.kind === candidate))
  const talk = found.find((phrase) => phrase.kind === kind)?.talk
  return kind === undefined ? undefined : talk?.replies[kind]
}

function startsWithPhrase(text: string, phrase: string): boolean {
  if (!text.startsWith(phrase)) return false
  return text.length === phrase.length || text.charAt(phrase.length) === ' ' || UNSPACED.test(phrase)
}
