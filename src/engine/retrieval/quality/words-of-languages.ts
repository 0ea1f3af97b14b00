import { lazy } from '../../../lib/lazy.js'
import type { Facet } from '../query/question/facets.js'

const NAMED_FACETS: ReadonlySet<string> = new Set<Facet>([
  ...(['price', 'count', 'duration', 'time', 'place', 'person', 'reason', 'method', 'permission'] as const),
])

/**
 * Everyday words of German, French, Spanish and Chinese that ask for the same, one group per line, languages separated
 * by bars in this order: translations of `everyday-words.ts`. An entry matches all words that begin with it; one with
 * `=` matches only itself. The name at the start of a line is the facet that the words ask for (see `Facet`).
 */
const WORD_GROUPS = `
price: preis kost gebuhr teuer tarif bezahl zahl =zahle entgelt aufpreis satz | prix cout tarif =payer =paie =paye frais montant | preci =cuesta =cuestan coste tarif =pagar =paga =pagan =pago =vale =cobra =cobran =cobrar =cobrais import suplement | 多少钱 价格 费用 价钱 收费 租金 金额 多少元 票价 花费 费
count: anzahl hoh =hoch zahl menge =wieviel betrag | nombre combien montant quantit eleve | numero cantidad cuant import asciend | 多少 几个 数量 人数 数目 几本 几场
duration: dauer lang frist zeitraum laufzeit minut stund tage monat woche jahre | dure longtemp temps delai minut heure jour mois semaine annees longueur | dura duracion plazo tiempo dias semana mes meses minut | 多久 多长时间 期限 多少天 几天 时长 几年 几个月 多少个月
time: wann zeit uhr termin datum zeitpunkt monat jahr tag | quand heure date moment annee jour horaire | cuando hora fecha momento dia ano horario | 什么时候 几点 时间 日期 何时 哪天 哪年
place: =wo ort standort adresse lage stadt | =ou lieu adresse endroit | donde lugar direccion sitio ubicacion | 哪里 哪儿 地址 位置 地点 什么地方
person: =wer =wem =wen leiter leitung chef verantwort zustandig ansprech | =qui responsable directeur directrice chef fondat personne | quien responsable director jefe encargad | 谁 哪位 负责人 哪个人 经理
reason: warum wieso grund ursache weshalb | pourquoi raison cause motif | =porque motivo causa razon | 为什么 原因 理由 为何
method: =wie schritt anleitung vorgehen | comment etape demarche procedure maniere | como pasos manera procedimiento | 怎么 如何 怎样 方法 步骤
permission: darf durfen erlaub gestatt zulassig genehmig moglich berechtig anspruch | peut permis autoris possible droit interdi | puede permit autoriz posible prohib derecho | 可以 允许 能否 能不能 禁止 是否
: verbot untersag | interdi defendu defense | prohib vetad | 禁止 不得 不准
: pflicht =muss =mussen obligator vorgeschrieben notig erforderlich verlang | obligatoir =faut =dois exig necessair requis | obligatori exig necesari requer =hay | 必须 须 要求 需要
: eintritt einlass zutritt ticket karte fahrkarte | entree billet ticket | entrada billete boleto ticket | 门票 入场
: anspruch bekomm erhalt zusteh kriegen erhalten | droit recevoir obten recevr | derecho recib cobra obten | 领取 获得 拿到 得到 有
: grund stift errich schuf | fond cre origine etabl | fund cre establec | 创建 创立 成立 建立
: bau gebaut errichte erbaut | construi bati edifi | constru edific | 建造 修建 建
: sanier renovier erneuer moderni umbau | renov restaur modernis | renov reform restaur | 翻新 装修 改造
: kaput defekt panne schaden storung platten | panne casse defaut abim | averi rot defect dana | 坏 故障 损坏
: repar instand | repar depann | repar arregl | 维修 修理 修
: auto wagen fahrzeug pkw =kfz | voiture auto vehicul | coche auto vehicul carro | 汽车 车
: fahrrad =rad rader velo | velo bicyclett | bici | 自行车 单车
: elektro e-bike =ebike motor | electri moteur | electric motor | 电动
: kaution pfand sicherheit | caution garanti depot | fianza deposit | 押金 保证金
: gewahr garanti | garanti | garanti | 保修 质保 保质
: miet verleih ausleih leih | lou pret emprunt | alquil prest | 租 借 出借
: hinterleg hinterlass abgeb | depos laisser remett | deposit dejar | 存 放
: offnen offn geoffnet aufmach =auf | ouvr ouvert | abr abier apertur | 开门 开放 营业 开
: schlie geschlossen schluss | ferm | cierr cerr | 关门 关 闭馆 锁门
: beginn start anfang | commenc debut demarr | comienz empiez inici comenz empez | 开始 起
: end schluss aufhor | fin termin acheve | termin acab fin | 结束 截止
: kundig stornier absag beend ausstieg austret | resili annul | cancel anul baja rescind | 取消 退订 解约
: verlang erneuer | prolong renouvel recondui | renov prorrog ampli | 续 延长
: melde meld anzeig mitteil benachricht | signal declar avert inform | avis comunic notific inform | 通知 报告 上报
: einreich abgeb abgab schick send ubermittel vorleg | depos envoy remett soumett transm adress presenter | entreg envi present mand remit | 提交 交 递交 寄
: antrag beantrag anfrag gesuch | demand requet | solicit peticion | 申请
: genehmig zustimm bewillig freigab | approuv accord valid autoris | aprob autoriz | 审批 批准 同意 批
: buch reservier bestell | reserv command | reserv encarg | 预订 预约 预定 订 约
: wechs tausch ersatz ersetz | chang remplac echang | cambi reempl sustitu | 更换 换
: aufzieh montier aufgezogen montage wechs anbring | mont install pose | mont instal coloc | 安装 装
: nutz benutz verwend gebrauch | utilis emploi usage | utiliz usar uso emple | 使用 用
: losch entfern | supprim efface enlev | borr elimin suprim | 删除
: verlor verlier fundsach vergess liegen | perd oubli trouv | perd olvid | 丢 遗失 遗留 遗忘 忘 落 丢失
: aufbewahr behalt verwahr lager | conserv gard stock | guard conserv almacen | 保管 保存 保留 留
: verspat versaum zu-spat | retard | retras tard | 迟 逾期 晚
: straf bussgeld mahn | amende penalit | multa sancion | 罚款
: urlaub ferien frei | conge vacance | vacacion descanso | 假 休假 年假
: krank arbeitsunfah | malad arret | enferm baja | 病假 病
: arzt attest mediz | medecin medical docteur | medic doctor | 医生 医疗
: mitarbeit beschaftig angestell personal arbeitnehm | salari employ personnel travaill | emplead trabajador person | 员工 职工 雇员
: gast besuch teilnehm | visiteur client particip invit | visitant client particip huesped | 客人 访客 参加者
: kind kinder jung | enfant jeune | nino menor infan | 儿童 孩子
: student studier studen | etudiant | estudiant alumn universitari | 学生
: firma unternehm betrieb gesellschaft | entrepris societe firme | empresa sociedad compan | 公司 企业
: wohnung unterkunft ubernacht hotel zimmer | logement hotel hebergement chambre | alojamient hotel habitacion hospedaj | 住宿 酒店 房间
: essen mahlzeit verpfleg | repas nourritur mang | comid comer aliment | 餐 饭 用餐
: zuschuss zulag beihilf forder | indemnit alloc prime subvent aide | ayuda subvencion dieta subsidi | 补贴 补助 津贴
: reise fahrt dienstreis | voyage deplac trajet | viaj desplazamient | 出差 差旅 旅行
: hund katze tier haustier | chien chat anim | perro gato mascot animal | 狗 宠物
: foto bild aufnahm fotograf | photo cliche imag | foto imag | 照片 拍照 摄影
: telefon rufnummer anruf nummer ruf | telephon numero appel | telefon numero llam | 电话 号码
: konferenz tagung kongress veranstalt | conferenc congres reunion | conferenc congres reunion | 会议 大会
: kurs unterricht schul lehrgang lehr | cours lecon formation | clase curso leccion | 课程 课 教练
: becken schwimm =bad hallenbad freibad | piscine bassin baign | piscina bana | 泳池 游泳
: hafen dampfer schiff fahre | bateau ferry navir | barco ferry | 船 渡轮
: verdien gehalt lohn einkomm | salair remunerat | sueldo salari | 工资 薪水
: umsatz erlos | chiffre ventes recett | ventas ingres factur | 营收 收入 销售额
: vergeb verlieh zuerkann gewahr | attribu accord decern | conced otorg adjudic | 颁发 授予 发放
: heiss nenn name bezeichn | nomm appell =nom | llam nombre | 叫 名字 名称
: leit fuhr verantwort chef vorsitz steh | dirig mene prescrid responsab tete directeur directrice chef | dirig encabez presid jefe responsabl encargad | 负责 管理 领导
: geh wart pfleg | entret maint | manten revis | 维护 保养
: gross weit =lange | taille long haut grand | grand larg tamano alto | 大小 长度 高度
: mess gross meter | mesur metre | mid metr | 米 长
: kurz schnell sofort | vite rapid immediat | rapid pronto inmediat | 快 立即 马上
: bedeut sinn meint heiss zeigen | signif veut sens indiqu | signif quier indic | 意思 含义 表示 说明 代表
: vorher voraus zuvor | avance avant | antelacion antes | 提前 之前 事先
: uberschreit uber mehr | depass plus-de | super exced mas-de | 超过 以上
: hochst maxim grenz | maxim plafond limite | maxim limit tope | 最多 上限 最大
: mindest minim | minim moins | minim | 最少 至少 下限
: passwort kennwort | passe | contrasen clave | 密码
: internet netz wlan | internet wifi reseau | internet wifi red | 网络 上网 校园网
: waren wasch | lav linge | lav colad | 洗
: nacht abend | nuit soir | noche tarde | 晚上 夜
: tag taglich | jour quotid | dia diari | 每天 一天 每日
: monat monatlich | mois mensuel | mes mensual | 每月 一个月
: jahr jahrlich | annee annuel =an =ans | ano anual | 每年 一年
: begleit gemeinsam | accompagn | acompan | 陪同
: bergung feuer brand | feu incend flamm | fuego hoguer incend | 火
`
/** Filler words around questions. */
const FILLER_WORDS = `
hallo guten morgen bitte danke konnten konnte mochte wissen sagen gern gerne sag sagt nennen mitteilen frage wurde ware jemand eigentlich
bonjour bonsoir merci pourriez pouvez voudrais aimerais savoir dire svp plait question quelqu'un peux indiquer
hola buenos buenas dias tardes gracias podria podrian puedo quisiera quiero saber decir decirme favor pregunta alguien queria
`
/** Chinese filler words and grammar: removed before the rest is compared. */
const CHINESE_FILLERS =
  '请问 您好 你好 我想问一下 我想问 想问一下 想知道 请告诉我 告诉我 麻烦 谢谢 一下 我家 我们 你们 我 你 您 的 了 吗 呢 吧 是 在 里 把 这款 这个 这 那 个 应该 需要 要 会 能 到 去 有 都 之内 以内 由 得 着 和 与 什么 哪'

/** Groups of words that ask for the same, and the facets that some of them ask for. */
export interface WordSense {
  groups: readonly number[]
  facets: readonly Facet[]
}

const CHINESE = 3
const LANGUAGES = 4
/** Groups of English have lower numbers. */
const FIRST_GROUP = 10_000
/** A stem of at most this many letters matches only words that are little longer. */
const MAX_SHORT_STEM_LENGTH = 4
const MAX_SHORT_ENDING_LENGTH = 2
/** Minimum letters of the first and last part of a compound. */
const MIN_COMPOUND_PART_LENGTH = 4
const MAX_STEM_LENGTH = 16

interface WordTables {
  stems: ReadonlyMap<string, WordSense>
  chinese: ReadonlyMap<string, WordSense>
  longestChinese: number
}

const getTables = lazy((): WordTables => {
  const stems = new Map<string, WordSense>()
  const chinese = new Map<string, WordSense>()
  for (const [index, line] of WORD_GROUPS.trim().split('\n').entries()) {
    const [name = '', rest = ''] = line.split(': ')
    const facets = isFacet(name) ? [name] : []
    for (const [language, words] of rest.split(' | ').entries())
      for (const word of words.trim().split(' ')) {
        const table = language === CHINESE ? chinese : stems
        const known = table.get(word) ?? { groups: [], facets: [] }
        table.set(word, {
          groups: [...known.groups, FIRST_GROUP + index * LANGUAGES + language],
          facets: [...known.facets, ...facets],
        })
      }
  }
  for (const word of CHINESE_FILLERS.split(' ')) if (!chinese.has(word)) chinese.set(word, { groups: [], facets: [] })
  return { stems, chinese, longestChinese: Math.max(...[...chinese.keys()].map(({ length }) => length)) }
})

const fillerSet = new Set(FILLER_WORDS.trim().split(/\s+/))

function isFacet(name: string): name is Facet {
  return NAMED_FACETS.has(name)
}

/** Finds the groups of a word in German, French or Spanish; the word is in lower case and without accents. */
export function findSense(word: string): WordSense | undefined {
  const { stems } = getTables()
  const exact = stems.get(`=${word}`)
  if (exact !== undefined) return exact
  for (let length = Math.min(word.length, MAX_STEM_LENGTH); length >= 3; length--) {
    const found = stems.get(word.slice(0, length))
    if (found !== undefined && (length > MAX_SHORT_STEM_LENGTH || word.length - length <= MAX_SHORT_ENDING_LENGTH))
      return found
  }
  return undefined
}

/** Splits a German compound whose last part is an everyday word: `Parkgebühr`. */
export function splitCompound(word: string): [string, string] | undefined {
  for (let index = MIN_COMPOUND_PART_LENGTH; index <= word.length - MIN_COMPOUND_PART_LENGTH; index++) {
    const last = word.slice(index)
    if (findSense(last) === undefined || last.length < MIN_COMPOUND_PART_LENGTH) continue
    return [word.slice(0, index).replace(/(?<=.{4})(?:s|en|n)$/, ''), last]
  }
  return undefined
}

/** Whether a word is a filler word of these languages. */
export function isForeignFiller(word: string): boolean {
  return fillerSet.has(word)
}

/** Splits Chinese text at known words: their groups, and the text between them. */
export function splitChinese(text: string): { senses: WordSense[]; between: string[] } {
  const { chinese, longestChinese } = getTables()
  const senses: WordSense[] = []
  const between: string[] = []
  let run = ''
  const close = (): void => {
    if (run !== '') between.push(run)
    run = ''
  }
  for (let index = 0; index < text.length; ) {
    let length = Math.min(longestChinese, text.length - index)
    while (length > 0 && !chinese.has(text.slice(index, index + length))) length--
    const sense = chinese.get(text.slice(index, index + length))
    if (sense === undefined) run += text[index++] ?? ''
    else {
      close()
      if (sense.groups.length > 0) senses.push(sense)
      index += length
    }
  }
  close()
  return { senses, between }
}
