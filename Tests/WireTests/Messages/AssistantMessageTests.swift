import Testing
import Wire

struct AssistantMessageTests {
    private static let card = AssistantCard(
        id: "c1", kind: .draft, title: "To Ann", body: "Dear Ann,\n\"hello\"",
        actions: [.init(id: "edit", title: "Edit"), .init(id: "send", title: "Send")])

    @Test(
        arguments: [
            (.toolStarted(id: "t1", name: "find"), #"{"type":"tool.started","data":{"id":"t1","name":"find"}}"#),
            (.toolFinished(id: "t1", name: "find"), #"{"type":"tool.finished","data":{"id":"t1","name":"find"}}"#),
            (
                .toolFailed(id: "t1", name: "find", message: "The shop is closed.", retry: true),
                #"{"type":"tool.failed","data":{"id":"t1","name":"find","message":"The shop is closed.","retry":true}}"#
            ),
            (
                .card(card),
                #"{"type":"card","data":{"id":"c1","kind":"draft","title":"To Ann","body":"Dear Ann,\n\"hello\"","actions":[{"id":"edit","title":"Edit"},{"id":"send","title":"Send"}]}}"#
            ),
            (.cardAction(CardAction(card: "c1", action: "send")), #"{"type":"card.action","data":{"card":"c1","action":"send"}}"#),
            (
                .cardAction(CardAction(card: "c1", action: "edit", fields: ["title": "x", "body": "Dear Bob"])),
                #"{"type":"card.action","data":{"card":"c1","action":"edit","fields":{"body":"Dear Bob","title":"x"}}}"#
            ),
            (.onboardingStart, #"{"type":"onboarding.start","data":{}}"#),
            (.onboardingFinished(completed: true), #"{"type":"onboarding.finished","data":{"completed":true}}"#),
            (.onboardingFinished(completed: false), #"{"type":"onboarding.finished","data":{"completed":false}}"#),
            (
                .languageLimited(LanguageLimit(language: "de-AT", spoken: "en", understood: "en")),
                #"{"type":"language.limited","data":{"language":"de-AT","spoken":"en","understood":"en"}}"#
            ),
        ] as [(AssistantMessage, String)])
    func messagesHaveTheDocumentedForm(message: AssistantMessage, text: String) throws {
        #expect(try message.payload() == text)
        #expect(try AssistantMessage(parsing: Array(text.utf8)) == message)
    }

    @Test(arguments: [
        ("", "not JSON"), ("[]", "the message is not an object"), (#"{"data":{}}"#, "type is missing"),
        (#"{"type":7,"data":{}}"#, "type is not a string"), (#"{"type":"tool.paused","data":{}}"#, "is unknown"),
        (#"{"type":"tool.started"}"#, "data is missing"), (#"{"type":"tool.started","data":[]}"#, "data is not an object"),
        (#"{"type":"tool.started","data":{"id":"1"}}"#, "name is missing"),
        (#"{"type":"tool.started","data":{"id":"","name":"a"}}"#, "id is empty"),
        (#"{"type":"tool.started","data":{"id":"1","name":"a","x":1}}"#, "unknown member \"x\""),
        (#"{"type":"tool.started","data":{"id":"1","id":"2","name":"a"}}"#, "repeats a name"),
        (#"{"type":"tool.started","data":{"id":"1","name":"a"},"seq":1}"#, "unknown member \"seq\""),
        (#"{"type":"tool.failed","data":{"id":"1","name":"a","message":"m","retry":1}}"#, "retry is not true or false"),
        (#"{"type":"card","data":{"id":"1","kind":"advert","title":"","body":"","actions":[]}}"#, "kind must be one of draft"),
        (#"{"type":"card","data":{"id":"1","kind":"info","title":"","body":"","actions":{}}}"#, "actions is not an array"),
        (
            #"{"type":"card","data":{"id":"1","kind":"info","title":"","body":"","actions":[{"id":"a","title":""},{"id":"a","title":""}]}}"#,
            "two actions have the same id"
        ),
        (#"{"type":"card.action","data":{"card":"1","action":"a","fields":{"body":1}}}"#, "a member of fields is not a string"),
        (#"{"type":"card.action","data":{"card":"1","action":"a","fields":null}}"#, "fields is not an object"),
        (#"{"type":"card.action","data":{"card":"1","action":"a","fields":{"":"x"}}}"#, "a name in fields must have"),
        (#"{"type":"onboarding.start"}"#, "data is missing"),
        (#"{"type":"onboarding.start","data":{"again":true}}"#, "unknown member \"again\""),
        (#"{"type":"onboarding.finished","data":{}}"#, "completed is missing"),
        (#"{"type":"language.limited","data":{"language":"de","spoken":"en"}}"#, "understood is missing"),
        (#"{"type":"language.limited","data":{"language":"<b>","spoken":"en","understood":"en"}}"#, "language is no language tag"),
        (#"{"type":"onboarding.finished","data":{"completed":"yes"}}"#, "completed is not true or false"),
    ])
    func anythingElseIsRefusedWithAReason(text: String, reason: String) throws {
        let error = #expect(throws: AssistantMessageError.self) { try AssistantMessage(parsing: Array(text.utf8)) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }

    @Test func whatIsOverALimitIsNotSent() throws {
        func long(_ count: Int) -> String { String(repeating: "x", count: count) }
        let messages: [AssistantMessage] = [
            .toolStarted(id: long(129), name: "a"), .toolStarted(id: "1", name: long(65)),
            .toolFailed(id: "1", name: "a", message: long(1_025), retry: false),
            .card(AssistantCard(id: "1", kind: .info, title: long(257))),
            .card(AssistantCard(id: "1", kind: .info, title: "", body: long((32 << 10) + 1))),
            .card(AssistantCard(id: "1", kind: .info, title: "", actions: (0..<9).map { .init(id: "\($0)", title: "") })),
            .cardAction(
                CardAction(card: "1", action: "a", fields: Dictionary(uniqueKeysWithValues: (0..<33).map { ("\($0)", "") }))),
            // Each field is within its limit, all of them are not.
            .cardAction(CardAction(card: "1", action: "a", fields: ["a": long(32 << 10), "b": long(32 << 10)])),
        ]
        for message in messages { #expect(throws: AssistantMessageError.self) { try message.payload() } }
        _ = try AssistantMessage.card(AssistantCard(id: long(128), kind: .error, title: long(256), body: long(32 << 10))).payload()
    }
}
