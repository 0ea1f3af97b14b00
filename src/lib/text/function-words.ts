import type { Language } from './languages.js'

/**
 * Words that identify a language, in lower case. `functionWords` are function and question words without content.
 * `common` are typical words with content (numbers, days, units): short sentences often have no others. `letters` are
 * letters that few other languages write.
 */
interface LanguageMarks {
  functionWords: string
  common?: string
  letters?: RegExp
}

/**
 * All languages except English, whose lists are in `stop-words.ts`. Question words are complete; the others are the
 * most frequent ones.
 */
export const LANGUAGE_MARKS: Readonly<Record<Exclude<Language, 'en'>, LanguageMarks>> = {
  de: {
    functionWords:
      'der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine keinen mit von vom zu zum zur im in ins an am auf aus bei beim für fürs über unter nach vor bis durch ist sind war waren wird werden wurde wurden hat haben kann können muss müssen darf dürfen soll sollte man ich wir uns unser unsere sie er es mein meine ihr ihre sich auch noch nur wie was wer wen wem wessen wo wann warum weshalb wieso woher wohin womit wofür woraus worauf wovon welche welcher welches welchen welchem wieviel wieviele viel viele gibt als wenn dass diese dieser dieses diesem diesen ob',
    common:
      'eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig hundert tausend uhr tag tage tagen stunde stunden minuten jahr jahre jahren woche wochen monat monate montag montags dienstag mittwoch donnerstag freitag samstag sonntag sonntags täglich kostet kosten morgens abends erst immer jede jeden jeder jedes ab sowie zwischen ohne gegen während',
    letters: /[äöüß]/,
  },
  fr: {
    functionWords:
      'le la les l un une des du de d au aux ce cet cette ces et ou mais ne n pas plus en y à dans par pour sur sous avec sans chez est sont était étaient été être a ont avoir peut peuvent on il elle ils elles je j nous vous notre votre nos vos mon ma mes son sa ses leur leurs se s me m te t qui que qu quoi quel quelle quels quelles quand comment combien pourquoi où c y dont lequel laquelle il faut doit doivent fait est-ce si aussi entre depuis',
    common:
      'deux trois quatre cinq sept huit neuf dix onze douze quinze vingt trente quarante cinquante cent mille heure heures jour jours semaine semaines mois an ans année années lundi mardi mercredi jeudi vendredi samedi dimanche coûte coûtent chaque toujours après avant tous toutes tout toute',
    letters: /[çèêœûîàùë]/,
  },
  es: {
    functionWords:
      'el la los las un una unos unas de del al y e o u pero no ni en con sin por para sobre entre desde hasta a es son era eran fue ser está están hay ha han haber puede pueden se lo le les me te nos mi mis tu tus su sus nuestro nuestra este esta estos estas ese esa eso que qué quien quién quienes quiénes cual cuál cuales cuáles cuando cuándo donde dónde adónde como cómo cuanto cuánto cuanta cuánta cuantos cuántos cuantas cuántas porqué si más muy también debe deben tiene tienen yo usted',
    common:
      'uno dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta cien mil hora horas día días semana semanas mes meses año años lunes martes miércoles jueves viernes sábado sábados domingo domingos cuesta cuestan cada siempre después antes todos todas',
    letters: /[ñáéíóú¿¡]/,
  },
  it: {
    functionWords:
      'il lo la i gli le l un uno una di del dello della dei degli delle dell a al allo alla ai agli alle all da dal dalla dai dalle in nel nello nella nei nelle nell su sul sulla sui sulle sull con per tra fra e ed o ma non è sono era erano fu essere sta stanno c ci si ha hanno può possono deve devono mi ti vi lui lei noi voi loro io mio mia suo sua nostro nostra che chi cosa cos quale quali qual quando quanto quanta quanti quante dove dov come perché se più anche molto questo questa questi queste quello quella',
    common:
      'uno due tre quattro cinque sei sette otto nove dieci undici dodici quindici venti trenta quaranta cinquanta cento mille ora ore giorno giorni settimana settimane mese mesi anno anni lunedì martedì mercoledì giovedì venerdì sabato domenica costa costano ogni sempre dopo prima tutti tutte alle dalle',
    letters: /[ìòàèù]/,
  },
  pt: {
    functionWords:
      'o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às por pelo pela pelos pelas para com sem sobre entre desde até e ou mas não nem é são era eram foi ser está estão há tem têm pode podem deve devem se lhe me te nos meu minha seu sua seus suas nosso nossa este esta estes estas esse essa isso que quê quem qual quais quando onde aonde como quanto quanta quantos quantas porque porquê por que mais muito também eu você ele ela eles elas',
    common:
      'dois duas três quatro cinco seis sete oito nove dez onze doze quinze vinte trinta quarenta cinquenta cem mil hora horas dia dias semana semanas mês meses ano anos segunda terça quarta quinta sexta sábado sábados domingo domingos feira custa custam cada sempre depois antes todos todas',
    letters: /[ãõçâêôá]/,
  },
  nl: {
    functionWords:
      'de het een van en of maar niet geen in op aan bij met voor naar uit over om door onder tot is zijn was waren wordt worden werd heeft hebben kan kunnen moet moeten mag mogen er dat die dit deze te ik je jij u we wij ze zij hij mijn uw ons onze hun wie wat waar wanneer waarom hoe hoeveel hoelang vaak jullie jouw welke welk waarvoor waarmee waarheen veel ook nog dan als al',
    common:
      'een twee drie vier vijf zes zeven acht negen tien elf twaalf twintig dertig veertig vijftig honderd duizend uur dag dagen week weken maand maanden jaar maandag dinsdag woensdag donderdag vrijdag zaterdag zondag kost kosten elke per altijd tussen zonder tijdens alle',
  },
  sv: {
    functionWords:
      'och att det den de en ett i på av för med till från om vid hos under över efter före är var varit vara blir bli har hade kan ska skall måste får inte men eller som så jag vi ni du han hon man min mitt er vår sin sitt vad vem vilka vilken vilket när var varför hur vart varifrån många mycket ju också finns denna detta dessa då',
    common:
      'två tre fyra fem sex sju åtta nio tio elva tolv femton tjugo trettio fyrtio femtio hundra tusen timme timmar dag dagar vecka veckor månad månader år måndag tisdag onsdag torsdag fredag lördag söndag klockan kostar ligger stänger öppnar varje alltid mellan utan alla kronor öppet',
    letters: /[åäö]/,
  },
  da: {
    functionWords:
      'og at det den de en et i på af for med til fra om ved hos under over efter før er var været være bliver har havde kan skal må får ikke men eller som så jeg vi du han hun man min mit jer vores sin sit hvad hvem hvilke hvilken hvilket hvornår hvor hvorfor hvordan hvorhen mange meget også der denne dette disse',
    common:
      'to tre fire fem seks syv otte ni ti elleve tolv femten tyve tredive fyrre halvtreds hundrede tusind time timer dag dage uge uger måned måneder år mandag tirsdag onsdag torsdag fredag lørdag søndag klokken koster hver altid mellem uden alle kroner åbent',
    letters: /[æøå]/,
  },
  no: {
    functionWords:
      'og at det den de en et ei i på av for med til fra om ved hos under over etter før er var vært være blir har hadde kan skal må får ikke men eller som så jeg vi du han hun man min mitt dere vår sin sitt hva hvem hvilke hvilken hvilket når hvor hvorfor hvordan mange mye også der denne dette disse',
    common:
      'to tre fire fem seks sju syv åtte ni ti elleve tolv femten tjue tretti førti femti hundre tusen time timer dag dager uke uker måned måneder år mandag tirsdag onsdag torsdag fredag lørdag søndag klokken koster hver alltid mellom uten alle kroner åpent',
    letters: /[æøå]/,
  },
  fi: {
    functionWords:
      'ja tai mutta ei eivät en on ovat oli olivat olla ole se ne tämä tämän nämä että jos kun kuin niin myös vain minä sinä hän me te he minun sen sinun meidän mikä mitä mitkä missä mistä mihin milloin miksi miten kuka kenen ketkä kuinka paljonko montako monta paljon minkä millainen saa voi pitää täytyy ko',
    common:
      'yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen sata tuhat tunti tuntia päivä päivää viikko viikkoa kuukausi vuosi vuotta maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai kello maksaa euroa joka aina ennen jälkeen kaikki',
    letters: /[äö]/,
  },
  hu: {
    functionWords:
      'a az egy és vagy de nem is hogy ha van vannak volt voltak lesz lehet kell be ki le fel meg el ez azt ezt ezek azok én te ő mi ti ők mi mit ki kit kik mikor hol hová honnan miért hogyan hogy mennyi mennyibe hány melyik milyen mely csak már még után előtt között alatt felett szerint minden mely amely',
    common:
      'kettő két három négy öt hat hét nyolc kilenc tíz húsz harminc negyven ötven száz ezer óra órakor nap napon hónap év hétfő kedd szerda csütörtök péntek szombat vasárnap kerül forint euró mindig',
    letters: /[őűáéíóöúü]/,
  },
  ro: {
    functionWords:
      'și şi sau dar nu de la pe cu din în în pentru prin peste sub fără este sunt era erau fost fi a al ale ai o un una unei unui cel cea cei cele se să ce cine care când unde cum cât câtă câți câte cui de ce există are au poate trebuie eu tu el ea noi voi ei mai foarte acest această aceste',
    common:
      'doi două trei patru cinci șase şapte șapte opt nouă zece douăzeci treizeci sută mie ora ore oră zi zile săptămână lună luni an ani marți miercuri joi vineri sâmbătă duminică costă fiecare întotdeauna după toate',
    letters: /[ățțșşţâî]/,
  },
  tr: {
    functionWords:
      've veya ya da de ile için bir bu şu o mi mı mu mü değil var yok ne nedir kim kimin kimdir nerede nereye nereden nasıl neden niçin niye hangi kaç kaçta ne kadar kadar zaman çok daha en her gibi ben sen biz siz onlar benim bizim olarak olan',
    common:
      'iki üç dört beş altı yedi sekiz dokuz on yirmi otuz kırk elli yüz bin saat gün günü hafta ay yıl pazartesi salı çarşamba perşembe cuma cumartesi pazar lira avro euro tutar sonra önce arasında',
    letters: /[ğışç]/,
  },
  id: {
    functionWords:
      'yang dan atau tetapi tidak bukan di ke dari pada untuk dengan oleh dalam adalah ialah ini itu ada akan sudah telah bisa dapat harus boleh saya kami kita anda dia mereka apa apakah siapa kapan mana dimana bagaimana mengapa kenapa berapa juga karena jika sebagai para',
    common:
      'satu dua tiga empat lima enam tujuh delapan sembilan sepuluh ratus ribu jam hari minggu bulan tahun senin selasa rabu kamis jumat sabtu setiap selalu setelah sebelum antara semua rupiah',
  },
  lt: {
    functionWords:
      'ir ar bet ne nėra yra buvo bus į iš su be už ant po prie per nuo iki apie kad jei kaip kas ką kam ko kieno kur kada kodėl kiek kuris kuri kurie kokia koks kokie tai šis ši tas ta aš tu jis ji mes jūs jie mano jūsų savo taip pat gali reikia labai',
    common:
      'vienas du dvi trys keturi penki šeši septyni aštuoni devyni dešimt šimtas valanda valandą diena dienų savaitė mėnuo metai metų pirmadienį šeštadienį sekmadienį kainuoja eurų kiekvieną visada',
    letters: /[ėųūįąęšž]/,
  },
  ga: {
    functionWords:
      'an na agus nó ach ní níl tá bhí is ba ar ag le ó do de i sa san go gan faoi mar a cad cé cén conas cathain cá céard fáth mé tú sé sí muid sibh siad mo bhur seo sin atá bhfuil cé mhéad',
    common:
      'aon dó trí ceithre cúig seacht ocht naoi deich uair lá seachtain mí bliain luan satharn domhnach gach euro',
    letters: /[áéíóú]/,
  },
  sr: {
    functionWords:
      'i ili ali ne nije da je su bio bila bilo biti će u na iz sa od do za po kod o se li koji koja koje kojem ko šta što gde kada kad kako zašto koliko čiji ja ti on ona mi vi oni moj naš ovo to и или али не није да је су био била било бити ће у на из са од до за по код о се ли који која које ко шта што где када кад како зашто колико чији ја ти он она ми ви они мој наш ово то',
    common:
      'jedan dva tri četiri pet šest sedam osam devet deset sto sat sati dan dana nedelja mesec godina subota košta svaki један два три четири пет шест седам осам девет десет сто сат сати дан дана недеља месец година субота кошта сваки',
    letters: /[ђћџљњј]/,
  },
  pl: {
    functionWords:
      'i oraz lub albo ale nie w we na z ze do od dla po przy przez pod nad o u jest są był była było były być będzie się to ten ta te ci tego tej tym co kto kogo komu kim czyj gdzie skąd dokąd kiedy jak jaki jaka jakie dlaczego czemu ile ilu który która które których czy że ja ty on ona my wy oni mój nasz można trzeba tylko też bardzo za',
    common:
      'jeden dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć sto tysiąc godzina godziny godzin godzinę dzień dni tydzień miesiąc rok lat poniedziałek wtorek środa czwartek piątek sobota niedziela kosztuje kosztują każdy zawsze złotych między wszystkie',
    letters: /[łżźćśńęą]/,
  },
  cs: {
    functionWords:
      'a i nebo ale ne není v ve na z ze do od pro po při přes pod nad o u je jsou byl byla bylo byly být bude se si to ten ta ty co kdo koho komu čí kde odkud kam kdy jak jaký jaká jaké proč kolik který která které zda že já ty on ona my vy oni můj náš lze jen také velmi za s',
    common:
      'jeden dva dvě tři čtyři pět šest sedm osm devět deset sto tisíc hodina hodiny hodin den dny dní týden měsíc rok let pondělí úterý středa čtvrtek pátek sobota neděle stojí každý vždy korun mezi všechny',
    letters: /[řěůčšž]/,
  },
  ru: {
    functionWords:
      'и или но не ни в во на с со из от до для по при через под над о об у к ко за это этот эта эти этого тот та те что чего чем кто кого кому кем чей чья где откуда куда когда как какой какая какое какие какого каком каких почему зачем сколько который которая которое которые ли бы же был была было были быть есть будет я ты он она мы вы они мой наш его её их себя свой можно нужно надо ещё уже только также очень а находится стоит',
    common:
      'один два две три четыре пять шесть семь восемь девять десять сто тысяча час часа часов день дня дней неделя неделю месяц год года лет рублей каждый между',
    letters: /[ыэё]/,
  },
  uk: {
    functionWords:
      'і й та або але не ні в у на з із зі від до для по при через під над про за це цей ця ці того той та ті що чого чим хто кого кому ким чий де звідки куди коли як який яка яке які чому навіщо скільки котрий чи би був була було були бути є буде я ти він вона ми ви вони мій наш його її їх себе свій можна треба ще вже тільки також дуже коштує',
    common:
      'один два дві три чотири п’ять шість сім вісім дев’ять десять сто година години годин день дня днів тиждень місяць рік року років гривень кожен',
    letters: /[іїєґ]/,
  },
  bg: {
    functionWords:
      'и или но не ни в във на с със от до за по при през под над о към е са съм беше бяха бил била било да се си ще това този тази тези какво какъв каква какви кой коя кое кои кого чий къде откъде накъде кога как защо колко който която което които ли аз ти той тя ние вие те моя наш може трябва още вече само също много струва',
    common:
      'един една две три четири пет шест седем осем девет десет сто час часа часове ден дни седмица месец година години лева всеки между',
    letters: /ъ/,
  },
  el: {
    functionWords:
      'ο η το οι τα του της των τον την τους τις ένας μια μία ένα και ή αλλά δεν δε μην σε στο στη στην στον στα στους στις από με για ως προς κατά μετά πριν χωρίς είναι ήταν έχει έχουν θα να που πού πως πώς τι ποιος ποια ποιο ποιοι ποιες πότε γιατί πόσο πόση πόσα πόσες πόσοι πόσος αν ότι αυτό αυτός αυτή αυτά μου σου μας σας τους κάνει μπορώ μπορεί πρέπει',
  },
  ar: {
    functionWords:
      'في من إلى الى على عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم نحن أنا أنت كان كانت يكون تكون أن ان إن لا لم لن ليس ما ماذا مم من متى أين اين كيف كم لماذا هل أي اي أية بكم لمن أو او ثم قد كل بعد قبل عند بين حتى منذ غير يمكن يجب هناك و ب ل يوجد توجد لدى',
  },
  hi: {
    functionWords:
      'का की के को में से पर ने और या लेकिन नहीं है हैं था थी थे हो होता होती होते यह ये वह वे इस उस क्या कौन किस किसने किसे किसका किसकी कब कहाँ कहां कैसे कैसा कैसी क्यों कितना कितनी कितने कौन-सा सा सी तक लिए साथ भी ही तो मैं हम आप मेरा हमारा जो एक करता करती करते जाता जाती जाते सकता सकते रहा रही',
  },
  ne: {
    functionWords:
      'को का की मा ले लाई बाट र वा तर छ छन् छैन हो होइन थियो यो त्यो यी के को कसले कहिले कहाँ कसरी किन कति कुन म हामी तपाईं पनि मात्र लागि देखि सम्म गर्छ गर्न हुन्छ भयो',
  },
  hy: {
    functionWords:
      'և եւ ու կամ բայց ոչ է են էր էին եմ ես եք չէ մեջ վրա ից համար հետ մասին որ որը որոնք ով ո՞վ ինչ ի՞նչ երբ ե՞րբ որտեղ որտե՞ղ ինչպես ինչու ինչքան քանի՞ քանի այս այդ այն սա դա նա մենք դուք նրանք իր մեր',
  },
  ta: {
    functionWords:
      'ஒரு இந்த அந்த இது அது மற்றும் அல்லது ஆனால் இல்லை உள்ளது உள்ளன ஆகும் என்று என்ன யார் யாருக்கு எப்போது எங்கே எங்கு எப்படி ஏன் எவ்வளவு எத்தனை எந்த எது நான் நாம் நீங்கள் அவர் அவர்கள் எனக்கு என்பது மேலும் கூட தான்',
  },
}
