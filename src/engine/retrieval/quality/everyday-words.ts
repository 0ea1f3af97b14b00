import { analyzeContent } from '../../../lib/text/analyze.js'
import { UNSPACED } from '../../../lib/text/unspaced.js'

/**
 * Everyday English words that ask for the same, one group per line; a word may be in several groups. The space's own
 * text adds more; these groups serve spaces of a few pages, which are too small to learn from.
 */
const GROUPS = `
price cost fee charge pay paid payment expensive tariff fare rate
free gratis complimentary
buy bought purchase order acquire procure request
sell sold sale vend deliver supply supplier vendor
money budget fund funds funding cash
salary wage pay earnings income remuneration earn
bonus supplement allowance premium extra surcharge
bill invoice
fine penalty
refund reimburse reimbursement repay compensate
limit maximum max cap ceiling most highest
minimum min least lowest
car vehicle automobile auto
park parking garage carpark
boat ship ferry vessel
plane aeroplane airplane aircraft flight fly flying
train rail railway railroad
road street highway
trip journey travel voyage crossing travelling
holiday vacation leave
employee staff worker personnel workforce colleague
boss manager supervisor head leader director chief
company firm business corporation enterprise works employer
customer client buyer
office workplace premises site
doctor physician medic clinician
hospital clinic infirmary
medicine drug medication remedy
ill sick illness disease disorder sickness ailment
nurse sister carer
baby newborn infant child children kid
birth born deliver delivery
die death dead fatal mortality
injury wound hurt harm
therapy treatment cure treat
vaccine shot vaccination jab inoculation immunisation
flu influenza
cause reason because due why lead
effect consequence result outcome impact reaction influence
adverse side unwanted harmful
use usage utilise employ apply application
function role purpose task job duty
make made built produce manufacture create build construct builder maker manufacturer constructor producer
design plan draw designer architect
found establish founder endow
begin began begun start commence onset launch
end finish stop terminate cease conclude close shut shutdown switched
shut close closing
shutdown shut switched stop decommission
fail failure break broke broken breakdown outage fault broken defect defective
repair fix mend service maintenance broken
maintain maintenance service
check inspect inspection examine test verify examination
approve approval sign agree authorise permit consent permission
allow permit let may permission possible
forbid ban prohibit disallow
need require must necessary mandatory obligatory requirement
send sent mail post submit hand forward
obtain receive
keep kept store stored save retain save hold preserve retention storage
delete remove erase wipe
restore recover get-back retrieve recovery
copy duplicate backup
replace replacement exchange change swap renew
renew extend renewal extension prolong
change alter modify amend move reset
expire expiry lapse invalid run
lose lost forget forgot forgotten loss missing
deadline due date until latest
late overdue delayed delay
interval frequency often frequently regular
duration length long period time
number count amount quantity
year annual annually yearly
month monthly
week weekly
day daily
night overnight nocturnal
room chamber
house home dwelling residence building
take took taken carry bring brought
rest remaining unused leftover left
most maximum
at-once simultaneous same
hotel accommodation lodging
flat apartment
food meal eat dish
lunch dinner breakfast meal
kitchen canteen cafeteria
child kid children
nursery kindergarten daycare
school college academy
pupil student learner
apprentice trainee
teacher instructor tutor professor
book volume
borrow loan lend lent borrowed
library collection
member user reader
computer laptop notebook pc
phone telephone mobile
wifi wlan wireless network
password passphrase passcode
account login
internet web online
big large huge great
small little tiny
fast quick rapid speed quickly velocity
hot heat temperature warm overheat
cold cool
strong power powerful capacity strength output
heavy weight weigh mass
long length measure
high height tall
old age
new recent latest newest fresh
first earliest initial early
last latest final
good suitable fit appropriate
unsuitable unfit avoid not-receive
bad poor
stay remain
leave left depart departure exit go
arrive arrival come reach
place location site spot where situated found
town city municipality
country nation state land
area region district zone
floor level storey
yard court courtyard
person people human individual man woman
guest visitor visit
president leader ruler head
king emperor monarch ruler sovereign
army troops soldiers military forces
war battle conflict fight combat
attack raid assault strike
kill slay destroy eliminate
win won beat defeat victory conquer
law rule regulation legislation statute act
judge court justice
crime offence
party faction
owner owns owned ownership
vote ballot election poll
rich wealthy prosperous
poor needy
petrol gasoline fuel oil gas
electricity power current mains
light lamp
water liquid
fire blaze
siren alarm
evacuation evacuate leave emergency
gather assemble assembly meeting muster
rubbish waste garbage trash refuse
cloth rag fabric
clean wash cleanse laundry
steel metal iron
cut slice
thick thickness
cover protect protection guard shield
complaint grievance dissatisfied complain
answer reply respond response
ask question inquire
tell report inform notify
call name term named known
mean meant meaning definition define
show display
part component piece
kind type sort
way method manner procedure process step steps
install installation set-up setup
document file paper record
picture image photo photograph
letter message mail
receipt voucher slip
trip travel business-trip
hour hours time
join membership member enter
train training learn teach
study research investigate science
remote remotely telework teleworking telecommute telecommuting homeoffice
decide approve agree authorise decision approval
abroad foreign overseas international
warranty guarantee guaranteed
late overdue expired penalty
penalty fine surcharge
spoil damage ruin destroy break broken harm defective
adult grown-up
young child kid youth junior pupil teenager
section department division unit area
manage lead head run direct charge responsible leader manager
lamp light led bulb
flash blink flicker signal
wash rinse clean flush
device machine appliance apparatus equipment unit
cab taxi
bill invoice receipt voucher
journey trip travel
drive driving mileage car
automobile car vehicle
deposit bail security
season months
rent hire lease let borrow
subscription membership
allowance contribute contribution subsidy grant money reimbursement
broadband internet network
notebook laptop
retain keep store hold delete
deleted erased lost removed
undo restore recover
drip leak leaking puddle
reservoir tank container
volume capacity
engineer architect designer planner
inaugurate open opening
abandon close closure give-up
tram bus underground subway metro train
referral prescription
pill tablet medicine medication drug
shot injection jab vaccination
pet dog cat animal
noise music loud quiet
rubbish bin dustbin
bicycle bike cycle
stairs staircase lift elevator
key lock
move moving relocate
cancel cancellation terminate termination notice quit resign
warn warning alert
discount reduction rebate cheaper
breakfast meal
guide tour
ticket admission entry entrance
language speak spoken
error fault mistake bug
update upgrade patch
setting configuration configure set-up
print printer
screen monitor display
desk table
chair seat
drawer cupboard locker cabinet
lend loan borrow
parcel package delivery shipment
order ordering
return bring-back hand-in
size dimension measurement
colour color paint painted
map chart plan
author writer written
song music
garden yard park
repair repaired fix mend maintenance
speed limit
storm flood disaster
insurance insured cover coverage covered
tax duty
bank account
interest rate
pension retirement retire
part-time half-time
overtime extra-hours
sick-leave sickness
meeting appointment conference
`

/** Words around a question that are not part of its subject. */
const FILLERS = `
please hello hi thanks thank help know tell want like wonder wondering think say said find someone somebody anybody
anyone everybody everyone thing things something anything matter situation actually really rather quite maybe perhaps
possibly probably simply just now today tomorrow yesterday morning afternoon evening recently lately currently still
already also even ever never always usually normally sometimes again here there anywhere somewhere friend brother sister
mother father partner manager new several many much lot lots bit kind sort way ours ourselves myself yourself ought shall
being happen happened happens look looking going go goes went gone come came coming take took taken taking make made
makes making get got gets getting give given gives need needs keep keeps asking ask asked told heard read write writing
remember notice noticed according exactly information detail details answer question questions explain describe name one
two three case certain us them him me whether though although however therefore since while within without upon
about around long ago able unable allowed supposed mean means understand everything nothing unfortunately
`

function buildGroupsByTerm(): ReadonlyMap<string, readonly number[]> {
  const known = new Map<string, number[]>()
  for (const [group, line] of GROUPS.trim().split('\n').entries()) {
    for (const word of line.split(' ')) {
      // A hyphenated entry is a phrase, and phrases are compared term by term.
      const [term, ...others] = analyzeContent(word.replaceAll('-', ' '))
      if (term === undefined || others.length > 0) continue
      const groups = known.get(term) ?? []
      if (!groups.includes(group)) groups.push(group)
      known.set(term, groups)
    }
  }
  return known
}

function buildTermsByGroup(terms: ReadonlyMap<string, readonly number[]>): ReadonlyMap<number, readonly string[]> {
  const members = new Map<number, string[]>()
  for (const [term, groups] of terms)
    for (const group of groups) members.set(group, [...(members.get(group) ?? []), term])
  return members
}

const GROUPS_BY_TERM = buildGroupsByTerm()
const TERMS_BY_GROUP = buildTermsByGroup(GROUPS_BY_TERM)
const FILLER_TERMS: ReadonlySet<string> = new Set(
  FILLERS.trim()
    .split(/\s+/)
    .flatMap((word) => analyzeContent(word)),
)

/** Numbers of the groups of everyday words that a term belongs to; most terms belong to none. */
export function findEverydayGroups(term: string): readonly number[] {
  return GROUPS_BY_TERM.get(term) ?? []
}

/** Terms that ask for the same as a term in everyday English, without the term itself. */
export function findEverydaySynonyms(term: string): string[] {
  const others = findEverydayGroups(term).flatMap((group) => TERMS_BY_GROUP.get(group) ?? [])
  return [...new Set(others)].filter((other) => other !== term)
}

/** Whether a term is a filler word around questions. */
export function isFiller(term: string): boolean {
  return FILLER_TERMS.has(term)
}

/**
 * Whether a term certainly belongs to a subject: it is neither an everyday word nor a filler word. The lists do not
 * cover scripts without spaces.
 */
export function isSpecific(term: string): boolean {
  return !isFiller(term) && findEverydayGroups(term).length === 0 && !UNSPACED.test(term)
}
