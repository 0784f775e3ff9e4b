extension Vocabulary {
    static let german = Vocabulary(
        language: "de",
        stopWords: set(
            """
            der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als wie so ist sind war waren bin bist sein seid hat habe
            haben hatte hatten hast wird werde werden wurde wurden würde würden kann können könnte könnten konnte muss müssen musst musste soll sollen
            sollte sollten will wollen wollte darf dürfen mag möchte möchten möchtest ich du er sie es wir ihr mich dich sich uns euch mir dir ihm
            ihn ihnen mein meine meinen meinem meiner dein deine deinen deinem deiner unser unsere unseren ihre ihren ihrem seine seinen nicht kein keine
            keinen auch noch nur schon sehr mal doch ja nein denn weil dass ob da dort hier jetzt heute morgen gestern immer wieder für mit
            von vom zu zum zur bei beim nach vor aus auf an am im in ins über unter durch um gegen ohne bis seit zwischen wegen was wer wo wann warum
            welche welcher welches dieser diese dieses diesen man mehr viel viele alles etwas nichts also eben halt eigentlich vielleicht gibt geht
            gehen kommt kommen machen macht gut gerne gern bitte danke okay ok bisschen ganz genau klar dazu dafür davon damit daran darüber
            """),
        notNouns: set(
            """
            uhr ersten zweiten dritten ein zwei drei vier fünf sechs sieben acht neun zehn zwölf kaufen holen nehmen finden sagen fahren
            bringen denken erinnern erinnere vergessen brauche brauchen neu neue neuen alte großen kleine später früher spät früh hallo guten
            montag dienstag mittwoch donnerstag freitag samstag sonntag abend vormittag nachmittag januar februar märz april mai juni juli
            august september oktober november dezember verstehe leider sonst prima perfekt toll schön minuten stunden tag tage euro grad prozent frage nachricht stunde woche monat jahr bescheid dank vielen
            """),
        determiners: set(
            "der die das den dem des ein eine einen einem einer mein meine meinen deine unser ihre zum zur im am beim für mit kein keine"),
        openers: set(
            "okay ok also ja nein gut hallo hey ähm äh na und aber danke bitte prima super klar perfekt toll genau gern gerne alles"),
        timeWords: set(
            """
            heute morgen übermorgen montag dienstag mittwoch donnerstag freitag samstag sonntag wochenende woche uhr abend mittag januar februar märz
            april mai juni juli august september oktober november dezember
            """),
        actionCues: [
            ActionCue("erinnere mich bitte daran dass ich", by: .user, is: .certain),
            ActionCue("erinnere mich bitte daran", by: .user, is: .certain),
            ActionCue("erinnere mich daran dass ich", by: .user, is: .certain), ActionCue("erinnere mich daran", by: .user, is: .certain),
            ActionCue("erinnere mich bitte an", by: .user, is: .certain), ActionCue("erinnere mich an", by: .user, is: .certain),
            ActionCue("erinnere dich daran", by: .assistant, is: .certain), ActionCue("vergiss nicht", is: .certain),
            ActionCue("nicht vergessen", is: .certain), ActionCue("denk daran", is: .certain), ActionCue("denken sie daran", is: .certain),
            ActionCue("ich muss noch", is: .certain), ActionCue("ich muss"), ActionCue("ich sollte"), ActionCue("ich werde", by: .user),
            ActionCue("wir müssen noch", is: .certain), ActionCue("wir müssen"), ActionCue("wir sollten"),
            ActionCue("du solltest", by: .assistant),
            ActionCue("du musst", by: .assistant), ActionCue("kannst du bitte", by: .user, is: .wish),
            ActionCue("kannst du", by: .user, is: .wish),
            ActionCue("bitte", is: .wish),
        ],
        taskVerbs: set(
            """
            anrufen rufe ruf kaufen kauf einkaufen schreiben schreib schicken schick senden buchen buche reservieren reserviere bestellen bestell
            holen hol abholen bringen bring mitbringen bezahlen zahlen überweisen absagen verschieben prüfen packen vorbereiten planen treffen
            fragen besorgen setz setze eintragen
            """),
        taskLeads: set("dass auch noch bitte zu ich"),
        taskTails: set("bitte danke ja okay und oder auch"),
        noTasks: set("sagen sehen mal"),
        subjects: set("ich wir du er sie es dann das"),
        clauseEnds: set("aber weil denn sonst damit obwohl falls"),
        phrases: Phrases(
            and: "und", conversation: "Gespräch", emptyTitle: "Leeres Gespräch", emptyText: "Es wurde nichts gesagt.", user: "Du",
            assistant: "Assistent", quotes: ("„", "“")))
}
