extension Vocabulary {
    static let english = Vocabulary(
        language: "en",
        stopWords: set(
            """
            a an the this that these those here there i me my mine myself you your yours yourself he him his she her hers it its we us our ours they
            them their theirs i'm i've i'll i'd you're you've you'll you'd he's she's it's we're we've we'll we'd they're they've they'll that's
            there's what's who's let's am is are was were be been being do does did doing done don't doesn't didn't have has had having haven't
            hasn't hadn't will would shall should can could may might must won't wouldn't shouldn't can't couldn't isn't aren't wasn't weren't ain't
            and or but if then than so because as until while of at by for with about against between into through during before after above below
            to from up down in out on off over under again further once when where why how which who whom whose what all any both each few more most
            other some such no nor not only own same too very just also now ever never always still already yet even much many lot lots bit one ones
            get gets got getting gonna gotta wanna go goes going gone went come comes coming came let lets thing things something anything nothing
            everything someone anyone everyone really quite maybe perhaps actually basically kind sort like around back away else instead it'll
            that'll where's how's here's though although since without within per via yes yeah no nope yep hmm whatever
            """),
        notNouns: set(
            """
            need needs needed want wants wanted take takes took taking taken make makes made making give gives gave given giving know knows knew
            known think thinks thought see sees saw seen seem seems look looks looked looking find finds found finding tell tells told telling say
            says said saying ask asks asked asking use uses used using try tries tried trying put puts leave leaves leaving left keep keeps kept
            help helps helped start starts started starting stop stops stopped set sets send sends sent sending bring brings brought bringing add adds
            added adding remind reminds reminded book booked booking move moved moving change changed changes call called calling
            buy bought buying pick picked picking sounds sound feel feels felt hear heard hope hoped guess mean means meant believe forget forgot remember
            remembered wait waiting show shows showed work works worked working run runs running turn turned play played pay paid check checked
            checking happen happened happens love loves loved like likes liked enjoy enjoyed reach talk talked talking speak spoke leave live lives
            wonder thank thanks welcome please sorry sure okay ok great good nice fine perfect lovely awesome cool well better best bad worse
            worst big small little long short new old early earlier late later last next first second third different same right wrong ready
            able available possible important happy glad sad tired busy free full whole fast slow quick quickly easy hard far near close
            probably definitely certainly exactly soon today tomorrow yesterday tonight often usually sometimes together enough instead almost
            clear clearly afraid quarter half past ago am pm a.m p.m o'clock minutes minute hours hour two three four five six seven eight nine ten
            eleven twelve twenty thirty forty fifty hundred thousand twice haven confirm confirmed cancel cancelled schedule scheduled reserve
            reserved order ordered email prefer preferred expect expected lose lost win won sit stay stayed stand grow cook cooking eat eating ate
            drink drive driving drove walk walking read reading write writing wrote watch watched meet met learn become became
            follow followed cost costs beautiful wonderful interesting funny warm cold hot per please currently delayed depart departs departing
            depend depends arrive arrives arriving answer answered fit fits rather actual honest honestly roughly include includes included
            seriously anyway absolutely totally moved left sitting monday tuesday wednesday thursday friday saturday sunday morning afternoon evening
            january february march april june july august september october november december suits suit let loads doing lovely quiet tidy
            i'd correct noted worry worries forward updated update missing fresh onto upon evenly fully hello hi hey bye goodbye oh um uh
            day days problem problems course list idea ideas month months year years week weeks question questions way person people message euro
            euros dollar dollars percent percentage grams kilometers miles case moment rest part side plenty couple page seat seats everybody's
            whether anybody somebody everybody nobody along suggest suggests suggested recommend recommended sounding tend tends certain
            """),
        determiners: set(
            "a an the this that these those my your his her its our their some any each every no another of for with in at about"),
        openers: set(
            """
            okay ok so well um uh er hmm yeah yes yep no nope sure alright right great perfect oh hey hi hello thanks and but actually please good
            fine cool awesome anyway look listen also then now lovely absolutely certainly wow ah ugh wonderful excellent super nice
            """),
        timeWords: set(
            """
            today tonight tomorrow monday tuesday wednesday thursday friday saturday sunday weekend week month morning afternoon evening noon
            midnight january february march april june july august september october november december o'clock am pm a.m p.m
            """),
        actionCues: [
            ActionCue("remind me to", by: .user, is: .certain), ActionCue("remind me about", by: .user, is: .certain),
            ActionCue("remind me that", by: .user, is: .certain), ActionCue("remind me", by: .user, is: .certain),
            ActionCue("remind you to", by: .assistant, is: .certain), ActionCue("remind you about", by: .assistant, is: .certain),
            ActionCue("reminder to", is: .certain), ActionCue("reminder for you to", is: .certain),
            ActionCue("don't forget to", is: .certain), ActionCue("don't forget", is: .certain),
            ActionCue("don't let me forget to", is: .certain),
            ActionCue("don't let me forget", is: .certain), ActionCue("make sure to", is: .certain),
            ActionCue("make sure you", is: .certain),
            ActionCue("make sure i", is: .certain), ActionCue("remember to", is: .certain),
            ActionCue("i need to"), ActionCue("i have to"), ActionCue("i've got to"), ActionCue("i gotta"), ActionCue("i must"),
            ActionCue("i should"), ActionCue("i will", by: .user, is: .wish), ActionCue("i'll", by: .user, is: .wish),
            ActionCue("i still need to"),
            ActionCue("i still have to"), ActionCue("i'm going to", by: .user, is: .wish), ActionCue("we should"), ActionCue("we need to"),
            ActionCue("we have to"), ActionCue("we must"), ActionCue("let's", is: .wish),
            ActionCue("you should", by: .assistant, is: .wish),
            ActionCue("you need to"), ActionCue("you'll need to"), ActionCue("you have to"), ActionCue("you must"),
            ActionCue("please", is: .wish),
            ActionCue("can you", by: .user, is: .wish), ActionCue("could you", by: .user, is: .wish),
            ActionCue("would you", by: .user, is: .wish), ActionCue("will you", by: .user, is: .wish),
        ],
        taskVerbs: set(
            """
            call phone ring text email e-mail mail write send buy get pick order book reserve cancel schedule reschedule arrange plan prepare pack
            bring take return renew pay transfer submit file sign print check confirm contact ask tell invite meet visit fix repair clean wash water
            feed finish update review read draft share forward add move change set put download upload install register apply collect fetch drop
            follow talk speak discuss reply answer organize organise find
            """),
        taskLeads: set("to also still just please really quickly then maybe probably"),
        taskTails: set("as well please then too okay ok right thanks though and or also"),
        noTasks: set("see say think admit do have know understand wait look guess let go love like like miss"),
        subjects: set("i we you he she they it that then there"),
        clauseEnds: set("but because so which if unless otherwise although though since while"),
        phrases: Phrases(
            and: "and", conversation: "Conversation", emptyTitle: "Empty conversation", emptyText: "Nothing was said.", user: "You",
            assistant: "Assistant", quotes: ("“", "”")))
}
