import { describe, expect, it } from 'vitest'
import { findSmallTalkReply } from '../../../src/lib/text/small-talk.js'

describe('small talk', () => {
  it.each([
    ['hello', 'Hello! What would you like to know?'],
    ['Hi there!', 'Hello! What would you like to know?'],
    ['Thanks!', 'You are welcome. Ask whenever there is something else.'],
    ['ok great, thank you so much 🙏', 'You are welcome. Ask whenever there is something else.'],
    ['Thank you, goodbye.', 'Goodbye!'],
    ["What's up?", 'I am well, thank you. What would you like to know?'],
    ['Guten Tag', 'Hallo! Was möchten Sie wissen?'],
    ['Vielen Dank!', 'Gern geschehen. Fragen Sie, wann immer es noch etwas gibt.'],
    ['Bonjour à tous', 'Bonjour ! Que voulez-vous savoir ?'],
    ['¡Hola!', '¡Hola! ¿Qué quiere saber?'],
    ['Grazie mille', 'Prego. Chieda pure altro.'],
    ['Obrigada', 'De nada. Pergunte quando quiser.'],
    ['Спасибо большое!', 'Пожалуйста. Спрашивайте ещё.'],
    ['你好！', '您好！您想了解什么？'],
    ['谢谢你', '不客气，有问题随时问我。'],
    ['안녕하세요!', '안녕하세요! 무엇을 알고 싶으신가요?'],
    ['정말 감사합니다', '천만에요. 다른 것도 언제든 물어보세요.'],
    ['مرحباً', 'مرحبا! ماذا تودّ أن تعرف؟'],
    ['شكرا جزيلا!', 'عفوا. اسأل متى شئت.'],
    ['İyi günler', 'Merhaba! Ne öğrenmek istersiniz?'],
    ['Çok teşekkür ederim 🙏', 'Rica ederim. Başka bir sorunuz olursa sorun.'],
    ['Cześć!', 'Dzień dobry! Co chcesz wiedzieć?'],
    ['Dziękuję bardzo, do widzenia', 'Do widzenia!'],
    ['こんにちは', 'こんにちは。何をお知りになりたいですか。'],
  ])('%s gets a friendly reply', (message, reply) => {
    expect(findSmallTalkReply(message)).toBe(reply)
  })

  it.each([
    'Hello, when do you open?',
    'hi what is the price of plan B',
    'Hello world example',
    'thanks to whom was the bridge built?',
    'ok',
    'you and my team',
    '你好，营业时间是几点？',
    'Danke, und wann öffnet ihr?',
    'Bonjour, où êtes-vous ?',
    'his name',
    '안녕하세요, 영업시간이 어떻게 되나요?',
    '감사합니다는 영어로 뭐예요?',
    '안녕 뜻',
    'مرحبا، متى تفتحون؟',
    'شكرا على ماذا؟',
    'Merhaba, saat kaçta açılıyorsunuz?',
    'Teşekkür mektubu nasıl yazılır?',
    'çok tamam',
    'Cześć, o której otwieracie?',
    'Dziękuję za co?',
    'Witam w jakim dziale?',
    '',
    '?',
  ])('%s is not recognized as small talk', (message) => {
    expect(findSmallTalkReply(message)).toBeUndefined()
  })
})
