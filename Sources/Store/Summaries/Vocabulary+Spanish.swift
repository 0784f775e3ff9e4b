extension Vocabulary {
    static let spanish = Vocabulary(
        language: "es",
        stopWords: set(
            """
            el la los las un una unos unas de del al a y o pero si que qué quien quién cual cuál donde dónde cuando cuándo como cómo por para con sin
            sobre entre hasta desde en es son era ser soy eres está están estoy estar fue ha he han hay tiene tengo tienes tener hacer hace hago
            puede puedo puedes quiero quiere quieres voy va vas ir me te se nos le les lo mi mis tu tus su sus nuestro nuestra este esta esto estos
            estas ese esa eso yo tú él ella nosotros ellos ellas usted no sí más muy bien bueno buena también ya aquí allí todo todos toda nada algo
            gracias hola favor porque entonces pues debo
            """),
        notNouns: set("mañana hoy ayer tarde noche lunes martes miércoles jueves viernes sábado domingo horas hora dos tres cuatro"),
        determiners: set("el la los las un una unos unas de del al mi mis tu tus su sus este esta para con"),
        openers: set("sí no hola gracias bueno pues entonces vale eh ah oh y pero claro perfecto"),
        timeWords: set("mañana hoy noche tarde lunes martes miércoles jueves viernes sábado domingo semana"),
        actionCues: [
            ActionCue("recuérdame que", by: .user, is: .certain), ActionCue("recuérdame", by: .user, is: .certain),
            ActionCue("no olvides", is: .certain), ActionCue("no te olvides de", is: .certain), ActionCue("tengo que", is: .certain),
            ActionCue("debo", is: .certain), ActionCue("hay que", is: .certain), ActionCue("tenemos que", is: .certain),
            ActionCue("tienes que", by: .assistant, is: .certain),
        ],
        taskVerbs: set("llamar comprar enviar escribir reservar pedir pagar llevar traer confirmar cancelar preparar"),
        taskLeads: set("que también de"),
        taskTails: set("gracias y o"),
        noTasks: set("decir ver"),
        subjects: set("yo nosotros tú él ella usted"),
        clauseEnds: set("pero porque aunque sino"),
        phrases: Phrases(
            and: "y", conversation: "Conversación", emptyTitle: "Conversación vacía", emptyText: "No se dijo nada.", user: "Tú",
            assistant: "Asistente", quotes: ("«", "»")))
}
