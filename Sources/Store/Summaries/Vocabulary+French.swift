extension Vocabulary {
    static let french = Vocabulary(
        language: "fr",
        stopWords: set(
            """
            le la les un une des du de d' au aux et ou mais si que qui quoi dont où ce cet cette ces c'est il elle on nous vous ils elles je j'ai tu te
            me se mon ma mes ton ta tes son sa ses notre votre leur leurs ne pas plus non oui est sont était suis es être avoir ai as a avons avez
            ont avait fait faire fais peux peut pouvez veux veut voulez dois doit devons va vais allez aller pour par avec sans sur sous dans en
            chez vers entre avant après quand comme comment pourquoi combien quel quelle très bien bon bonne aussi alors donc y là ici tout tous
            toute toutes rien encore déjà toujours jamais merci bonjour il-y-a qu'il j'aimerais m'a d'accord s'il plaît
            """),
        notNouns: set(
            "demain hier aujourd'hui matin soir lundi mardi mercredi jeudi vendredi samedi dimanche heures heure deux trois quatre"),
        determiners: set("le la les un une des du de au aux mon ma mes ton ta tes notre votre ce cette ces pour avec"),
        openers: set("oui non bonjour merci alors bon bien euh ah oh et mais donc voilà parfait super"),
        timeWords: set("demain aujourd'hui soir matin lundi mardi mercredi jeudi vendredi samedi dimanche semaine heures heure"),
        actionCues: [
            ActionCue("rappelle-moi de", by: .user, is: .certain), ActionCue("rappelez-moi de", by: .user, is: .certain),
            ActionCue("n'oublie pas de", is: .certain), ActionCue("n'oubliez pas de", is: .certain), ActionCue("je dois", is: .certain),
            ActionCue("il faut", is: .certain), ActionCue("nous devons", is: .certain),
            ActionCue("vous devez", by: .assistant, is: .certain),
        ],
        taskVerbs: set("appeler acheter envoyer écrire réserver commander payer prendre apporter confirmer annuler préparer"),
        taskLeads: set("que aussi"),
        taskTails: set("merci et ou"),
        noTasks: set("dire voir"),
        subjects: set("je nous vous tu il elle on ils elles"),
        clauseEnds: set("mais parce car sinon"),
        phrases: Phrases(
            and: "et", conversation: "Conversation", emptyTitle: "Conversation vide", emptyText: "Rien n'a été dit.", user: "Vous",
            assistant: "Assistant", quotes: ("« ", " »")))
}
