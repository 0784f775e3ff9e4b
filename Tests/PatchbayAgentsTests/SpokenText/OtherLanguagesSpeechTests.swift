import Testing

@testable import PatchbayAgents

struct OtherLanguagesSpeechTests {
    private static let german: [(written: String, spoken: String)] = [
        ("Es sind 0 Äpfel.", "Es sind null Äpfel."),
        ("Ich habe 21 Bücher.", "Ich habe einundzwanzig Bücher."),
        ("Es sind 101 Dalmatiner", "Es sind einhunderteins Dalmatiner"),
        ("1.234 Leute", "eintausendzweihundertvierunddreißig Leute"),
        ("12.000 Leute", "zwölftausend Leute"),
        ("1.000.000 Sterne", "eine Million Sterne"),
        ("2.500.000 Sterne", "zwei Millionen fünfhunderttausend Sterne"),
        ("3,14 ist Pi.", "drei Komma eins vier ist Pi."),
        ("-5 Grad", "minus fünf Grad"),
        ("im Jahr 1984", "im Jahr neunzehnhundertvierundachtzig"),
        ("im Jahr 2026", "im Jahr zweitausendsechsundzwanzig"),
        ("Es ist 17:05.", "Es ist siebzehn Uhr fünf."),
        ("um 17:05 Uhr", "um siebzehn Uhr fünf"),
        ("um 17.30 Uhr", "um siebzehn Uhr dreißig"),
        ("um 1 Uhr", "um ein Uhr"),
        ("Das kostet 12 €.", "Das kostet zwölf Euro."),
        ("Das kostet 3,50 €.", "Das kostet drei Euro fünfzig."),
        ("1 €", "ein Euro"),
        ("1 Apfel und 1 Birne", "ein Apfel und eine Birne"),
        ("0,99 €", "neunundneunzig Cent"),
        ("5 Millionen €", "fünf Millionen Euro"),
        ("am 27.11.2026", "am siebenundzwanzigsten November zweitausendsechsundzwanzig"),
        ("am 27. November", "am siebenundzwanzigsten November"),
        ("am 24.12. um 18 Uhr", "am vierundzwanzigsten Dezember um achtzehn Uhr"),
        ("der 2. Weltkrieg", "der zweite Weltkrieg"),
        ("die 90er", "die neunziger"),
        ("10 Mio. €", "zehn Millionen Euro"),
        ("der 1. Januar", "der erste Januar"),
        ("am 3. Mai 1999", "am dritten Mai neunzehnhundertneunundneunzig"),
        ("50 % mehr", "fünfzig Prozent mehr"),
        ("3 km weit", "drei Kilometer weit"),
        ("1 h", "eine Stunde"),
        ("20 °C", "zwanzig Grad Celsius"),
        ("100 km/h", "einhundert Kilometer pro Stunde"),
        ("z.B. Äpfel", "zum Beispiel Äpfel"),
        ("z. B. Äpfel", "zum Beispiel Äpfel"),
        ("Dr. Müller", "Doktor Müller"),
        ("Nr. 5", "Nummer fünf"),
        ("Zimmer 4711", "Zimmer vier sieben eins eins"),
        ("3/4 davon", "drei Viertel davon"),
        ("5–10 Minuten", "fünf bis zehn Minuten"),
        ("ann@example.de", "ann at example Punkt de"),
        ("Müller & Sohn", "Müller und Sohn"),
    ]

    private static let french: [(written: String, spoken: String)] = [
        ("Il y a 21 livres.", "Il y a vingt et un livres."),
        ("71 ans", "soixante et onze ans"),
        ("80 euros", "quatre-vingts euros"),
        ("81", "quatre-vingt-un"),
        ("99", "quatre-vingt-dix-neuf"),
        ("200 et 201", "deux cents et deux cent un"),
        ("1 200 visiteurs", "mille deux cents visiteurs"),
        ("80 000 habitants", "quatre-vingt mille habitants"),
        ("1 000 000 de fois", "un million de fois"),
        ("2.500.000", "deux millions cinq cent mille"),
        ("3,14", "trois virgule quatorze"),
        ("-5 degrés", "moins cinq degrés"),
        ("en 2026", "en deux mille vingt-six"),
        ("à 17:05", "à dix-sept heures cinq"),
        ("à 17h30", "à dix-sept heures trente"),
        ("à 21 h 05", "à vingt et une heures cinq"),
        ("3 millions €", "trois millions d’euros"),
        ("à 1h", "à une heure"),
        ("12 €", "douze euros"),
        ("3,50 €", "trois euros cinquante"),
        ("1 200,50 €", "mille deux cents euros cinquante"),
        ("0,99 €", "quatre-vingt-dix-neuf centimes"),
        ("le 27/11/2026", "le vingt-sept novembre deux mille vingt-six"),
        ("le 1/5/2026", "le premier mai deux mille vingt-six"),
        ("le 27 novembre", "le vingt-sept novembre"),
        ("le 1er janvier", "le premier janvier"),
        ("le 2e étage", "le deuxième étage"),
        ("la 9ème fois", "la neuvième fois"),
        ("50 % de plus", "cinquante pour cent de plus"),
        ("3 km", "trois kilomètres"),
        ("1 h", "une heure"),
        ("20 °C", "vingt degrés Celsius"),
        ("chambre 4711", "chambre quatre sept un un"),
        ("M. Dupont", "Monsieur Dupont"),
        ("Mme Dupont", "Madame Dupont"),
        ("06 12 34 56 78", "zéro six, un deux, trois quatre, cinq six, sept huit"),
        ("Bonjour & bienvenue !", "Bonjour et bienvenue!"),
    ]

    private static let spanish: [(written: String, spoken: String)] = [
        ("Hay 21 libros.", "Hay veintiún libros."),
        ("Hay 21 personas y 1 perro.", "Hay veintiuna personas y un perro."),
        ("31", "treinta y uno"),
        ("100 personas", "cien personas"),
        ("101", "ciento uno"),
        ("1.234", "mil doscientos treinta y cuatro"),
        ("21.000", "veintiún mil"),
        ("1.000.000", "un millón"),
        ("2.500.000", "dos millones quinientos mil"),
        ("3,14", "tres coma catorce"),
        ("-5 grados", "menos cinco grados"),
        ("en 2026", "en dos mil veintiséis"),
        ("a las 5:38", "a las cinco y treinta y ocho"),
        ("a la 1:15", "a la una y quince"),
        ("a las 17:00", "a las diecisiete en punto"),
        ("12 €", "doce euros"),
        ("21 €", "veintiún euros"),
        ("3,50 €", "tres euros con cincuenta céntimos"),
        ("1 €", "un euro"),
        ("3 millones €", "tres millones de euros"),
        ("el 27/11/2026", "el veintisiete de noviembre de dos mil veintiséis"),
        ("el 1/5/2026", "el primero de mayo de dos mil veintiséis"),
        ("el 27 de noviembre", "el veintisiete de noviembre"),
        ("el 1.º piso", "el primero piso"),
        ("la 2ª vez", "la segunda vez"),
        ("50 % más", "cincuenta por ciento más"),
        ("3 km", "tres kilómetros"),
        ("1 h", "una hora"),
        ("20 °C", "veinte grados Celsius"),
        ("habitación 4711", "habitación cuatro siete uno uno"),
        ("Sr. García", "Señor García"),
        ("p. ej. manzanas", "por ejemplo manzanas"),
        ("3/4", "tres cuartos"),
        ("pan & vino", "pan y vino"),
    ]

    @Test(arguments: german.indices) func aGermanTextIsSpoken(_ index: Int) {
        let (written, spoken) = Self.german[index]
        #expect(SpokenText(written, language: "de-DE").text == spoken, "\(written)")
    }

    @Test(arguments: french.indices) func aFrenchTextIsSpoken(_ index: Int) {
        let (written, spoken) = Self.french[index]
        #expect(SpokenText(written, language: "fr").text == spoken, "\(written)")
    }

    @Test(arguments: spanish.indices) func aSpanishTextIsSpoken(_ index: Int) {
        let (written, spoken) = Self.spanish[index]
        #expect(SpokenText(written, language: "es-MX").text == spoken, "\(written)")
    }
}
