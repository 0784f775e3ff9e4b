import Testing

@testable import PatchbayAgents

struct EnglishSpeechTests {
    private static let table: [(written: String, spoken: String)] = [
        // Numbers
        ("I have 0 apples.", "I have zero apples."),
        ("There are 12 people.", "There are twelve people."),
        ("There are 342 of them.", "There are three hundred forty two of them."),
        ("About 1,200 visitors came.", "About one thousand two hundred visitors came."),
        ("It holds 10000 people.", "It holds ten thousand people."),
        ("1,234,567 stars", "one million two hundred thirty four thousand five hundred sixty seven stars"),
        ("Pi is 3.14.", "Pi is three point one four."),
        ("A value of 0.05 is fine", "A value of zero point zero five is fine"),
        ("It is -5 outside.", "It is minus five outside."),
        ("Only 3,5 of them", "Only three point five of them"),
        ("(42)", "(forty two)"),
        ("5 million people", "five million people"),
        // Ordinals and years
        ("the 21st time", "the twenty first time"),
        ("1st, 2nd, 3rd and 4th", "first, second, third and fourth"),
        ("the 12th and the 20th", "the twelfth and the twentieth"),
        ("In 1984 it began.", "In nineteen eighty four it began."),
        ("since 2005", "since two thousand five"),
        ("in 2026", "in twenty twenty six"),
        ("around 1900", "around nineteen hundred"),
        ("in 1907", "in nineteen oh seven"),
        ("the 1980s", "the nineteen eighties"),
        ("the 90s", "the nineties"),
        ("the mid-1990s and a 2nd-floor room", "the mid nineteen nineties and a second floor room"),
        ("wait 90s", "wait ninety seconds"),
        // Times
        ("It is 5:38.", "It is five thirty eight."),
        ("at 17:05", "at seventeen oh five"),
        ("at 5:00", "at five o'clock"),
        ("Come at 5 pm.", "Come at five P M."),
        ("Come at 5 p.m. tomorrow.", "Come at five P M tomorrow."),
        ("At 7 p.m. He left.", "At seven P M. He left."),
        ("at 5:38pm, please", "at five thirty eight P M, please"),
        ("at 11:15 AM", "at eleven fifteen A M"),
        ("from 9:00–17:30", "from nine o'clock to seventeen thirty"),
        ("open 9-5 pm", "open nine to five P M"),
        ("the ratio is 16:9", "the ratio is sixteen to nine"),
        // Codes and phone numbers
        ("You are in room 4711.", "You are in room four seven one one."),
        ("Your code is 4711.", "Your code is four seven one one."),
        ("Your PIN: 0815", "Your PIN: zero eight one five"),
        ("It weighs 4711 grams", "It weighs four thousand seven hundred eleven grams"),
        ("Ticket #4711", "Ticket number four seven one one"),
        ("Take #5", "Take number five"),
        ("Dial 84113.", "Dial eight four one one three."),
        ("It is 007.", "It is zero zero seven."),
        ("Call 555-1234.", "Call five five five, one two three four."),
        ("Call (555) 123-4567 now", "Call five five five, one two three, four five six seven now"),
        ("Call +49 170 1234567.", "Call plus four nine, one seven zero, one two three four five six seven."),
        ("Flight LH454 boards", "Flight L H four five four boards"),
        ("Call 911!", "Call nine one one!"),
        ("My IBAN is DE89 3704 0044", "My IBAN is D E eight nine three seven zero four zero zero four four"),
        ("123456 dollars", "one hundred twenty three thousand four hundred fifty six dollars"),
        ("an mp3 file", "an mp3 file"),
        ("Gate B12 is open", "Gate B twelve is open"),
        // Money
        ("It costs 12 €.", "It costs twelve euros."),
        ("It costs 12€, really", "It costs twelve euros, really"),
        ("It costs $3.50 now.", "It costs three dollars and fifty cents now."),
        ("It is $1.", "It is one dollar."),
        ("only $0.99!", "only ninety nine cents!"),
        ("for £1,200", "for one thousand two hundred pounds"),
        ("a loss of -$5", "a loss of minus five dollars"),
        ("$5 million in sales", "five million dollars in sales"),
        ("a $2.5bn deal", "a two point five billion dollars deal"),
        ("5 USD or EUR 7", "five dollars or seven euros"),
        ("$5-10 each", "five to ten dollars each"),
        ("£2.01", "two pounds and one penny"),
        // Percentages, fractions, ranges
        ("50% off", "fifty percent off"),
        ("a rise of 3.5 %", "a rise of three point five percent"),
        ("10–20% more", "ten to twenty percent more"),
        ("1/2 cup of milk", "one half cup of milk"),
        ("3/4 of it", "three quarters of it"),
        ("1 1/2 hours", "one and a half hours"),
        ("2½ years", "two and a half years"),
        ("5-10 minutes", "five to ten minutes"),
        ("3–5 km away", "three to five kilometers away"),
        ("open 24/7", "open twenty four seven"),
        // Addresses
        ("See https://www.example.com/docs?x=1.", "See example dot com slash docs."),
        ("See example.com.", "See example dot com."),
        ("Write to ann.smith@example.com, please", "Write to ann dot smith at example dot com, please"),
        ("bob_42@mail.example.de", "bob underscore forty two at mail dot example dot D E"),
        ("Open README.md", "Open README dot M D"),
        ("Use version 1.2.3", "Use version one dot two dot three"),
        // Dates
        ("on 2026-11-27", "on November twenty seventh, twenty twenty six"),
        ("on 27.11.2026", "on November twenty seventh, twenty twenty six"),
        ("on 11/27/2026", "on November twenty seventh, twenty twenty six"),
        ("on 27/11/2026", "on November twenty seventh, twenty twenty six"),
        ("on Nov 27", "on November twenty seventh"),
        ("on Nov. 27, 2026", "on November twenty seventh, twenty twenty six"),
        ("on November 3rd", "on November third"),
        ("on 27 November 2026", "on the twenty seventh of November twenty twenty six"),
        ("Jan. was cold", "January was cold"),
        ("In May 2026", "In May twenty twenty six"),
        ("You may 5", "You may five"),
        // Units
        ("3 km from here", "three kilometers from here"),
        ("1 km", "one kilometer"),
        ("It is 20 °C.", "It is twenty degrees Celsius."),
        ("It is -3°C", "It is minus three degrees Celsius"),
        ("5kg of flour", "five kilograms of flour"),
        ("at 10 mph", "at ten miles per hour"),
        ("90 km/h", "ninety kilometers per hour"),
        ("2 GB of memory", "two gigabytes of memory"),
        ("wait 5 min. and go", "wait five minutes and go"),
        ("100 m² of space", "one hundred square meters of space"),
        // Abbreviations and acronyms
        ("Dr. Smith lives on Oak Dr.", "Doctor Smith lives on Oak Drive."),
        ("fruit, e.g. apples", "fruit, for example apples"),
        ("approx. 5", "approximately five"),
        ("cats vs. dogs", "cats versus dogs"),
        ("in St. Louis", "in Saint Louis"),
        ("221 Baker St. London", "two hundred twenty one Baker Street London"),
        ("apples, pears, etc.", "apples, pears, et cetera."),
        ("No. 5 is alive. No.", "number five is alive. No."),
        ("the USA and NATO", "the U S A and NATO"),
        ("an HTML page", "an H T M L page"),
        ("a 24-hour day", "a twenty four hour day"),
        ("COVID-19 tests", "COVID nineteen tests"),
        // Symbols and emojis
        ("salt & pepper", "salt and pepper"),
        ("R&D costs", "R and D costs"),
        ("A → B", "A to B"),
        ("2+2=4", "two plus two equals four"),
        ("2*3", "two times three"),
        ("5x3", "five times three"),
        ("~50 people", "about fifty people"),
        ("10 – 20", "ten to twenty"),
        ("input/output", "input slash output"),
        ("yes and/or no", "yes and or no"),
        ("Great 🎉! Bye 👋🏽", "Great! Bye"),
        ("#swift by @ann", "hashtag swift by at ann"),
        ("the snake_case name", "the snake case name"),
        ("Well — yes", "Well, yes"),
        // Nothing to do, and nothing known
        ("Hello, Ann. How are you?", "Hello, Ann. How are you?"),
        ("It’s 'fine' (really)...", "It’s 'fine' (really)..."),
        ("日本語 12", "日本語 twelve"),
        ("a$$b %%x 1..2", "a$$b %%x 1..2"),
    ]

    @Test(arguments: table.indices) func aTextIsSpoken(_ index: Int) {
        let (written, spoken) = Self.table[index]
        #expect(SpokenText(written).text == spoken, "\(written)")
    }

    @Test func theTranscriptKeepsWhatIsWritten() {
        for (written, _) in Self.table { #expect(SpokenText(written).written == written) }
    }

    /// A cached clip is asked for by its spoken text, which is then not changed again.
    @Test func spokenTextStaysAsItIs() {
        for (written, spoken) in Self.table where !written.contains("%%") { #expect(SpokenText(spoken).text == spoken, "\(written)") }
    }

    @Test func largeNumbersAreSpokenUpToTrillions() {
        let grammar = EnglishSpeech()
        #expect(grammar.cardinal(1_000_000) == "one million")
        #expect(grammar.cardinal(2_000_000_001) == "two billion one")
        #expect(grammar.cardinal(999_999_999_999_999).hasPrefix("nine hundred ninety nine trillion"))
        #expect(SpokenText("1,000,000,000,000,000,000").text == "one" + String(repeating: " zero", count: 18))
    }

    @Test func otherLanguagesLoseMarkdownAndEmojisOnly() {
        #expect(SpokenText("**Ciao** 👋, sono le 5:38.", language: "it-IT").text == "Ciao, sono le 5:38.")
    }
}
