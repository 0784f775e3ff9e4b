import Testing
import Wire

struct WorkerRequestTests {
    private static let job = JobInfo(id: JobID(text: "JB_1"), room: "r", assistant: "a", metadata: "m", reason: .token, attempt: 2)

    @Test(arguments: [
        WorkerRequest.register(WorkerRegistration(assistantID: "a", capacity: 3, load: 0.25, jobs: [job])),
        .register(WorkerRegistration(assistantID: "a", capacity: 1_000, needsDefinition: true)),
        .status(WorkerStatus(load: 0.5, jobs: 2, draining: true)), .status(WorkerStatus(load: 1)), .accept(JobID(text: "JB_1")),
        .status(
            WorkerStatus(
                load: 0, turns: [TurnMetrics(turn: 1, endOfTurnMs: 1, interrupted: true), TurnMetrics(turn: 2)], turnsDropped: 3)),
        .decline(JobID(text: "JB_1")), .finish(JobID(text: "JB_1"), error: nil), .finish(JobID(text: "JB_1"), error: "why"),
    ])
    func requestsSurviveEncodingAndDecoding(_ request: WorkerRequest) throws {
        let incoming = IncomingCallRequest(parsing: OutgoingCallRequest(.worker(request), id: 7).bytes)
        #expect(incoming.id == 7)
        #expect(try incoming.content.get() == .worker(request))
    }

    @Test func registrationIsReadAsTheProtocolShowsIt() throws {
        let text = #"{"type":"worker.register","id":1,"data":{"assistant_id":"helper","capacity":10,"load":0.2}}"#
        let request = try IncomingCallRequest(parsing: Array(text.utf8)).content.get()
        #expect(request == .worker(.register(WorkerRegistration(assistantID: "helper", capacity: 10, load: 0.2))))
    }

    @Test func turnsAreReadAsTheProtocolShowsThem() throws {
        let text =
            #"{"type":"worker.status","data":{"load":0.1,"jobs":1,"turns":[{"turn":2,"end_of_turn_ms":259,"voice_to_voice_ms":375,"interrupted":false}]}}"#
        let turns = [TurnMetrics(turn: 2, endOfTurnMs: 259, voiceToVoiceMs: 375)]
        let request = try IncomingCallRequest(parsing: Array(text.utf8)).content.get()
        #expect(request == .worker(.status(WorkerStatus(load: 0.1, jobs: 1, turns: turns))))
        // As in the assistant's message about the turn.
        let payload = try AssistantMessage.turnMetrics(turns[0]).payload()
        #expect(text.contains(#""turns":[\#(payload.dropFirst(#"{"type":"turn.metrics","data":"#.count).dropLast())]"#))
    }

    @Test(arguments: [
        (#"{"type":"worker.register","id":1}"#, "worker.register: `data` is missing"),
        (#"{"type":"worker.register","id":1,"data":{"capacity":1}}"#, "worker.register: `assistant_id` is missing"),
        (
            #"{"type":"worker.register","id":1,"data":{"assistant_id":"a","capacity":"x"}}"#,
            "worker.register: `data.capacity` has the wrong type"
        ),
        (#"{"type":"worker.status","id":1,"data":{}}"#, "worker.status: `load` is missing"),
        (#"{"type":"worker.status","id":1,"data":{"load":0,"turns":7}}"#, "worker.status: `data.turns` has the wrong type"),
        (#"{"type":"worker.status","id":1,"data":{"load":0,"turns":[{"turn":1}]}}"#, "worker.status: `interrupted` is missing"),
        (
            #"{"type":"worker.status","id":1,"data":{"load":0,"turns":[{"turn":1,"interrupted":false,"recognition_ms":"x"}]}}"#,
            "worker.status: `data.turns.0.recognition_ms` has the wrong type"
        ),
        (#"{"type":"job.accept","id":1,"data":{}}"#, "job.accept: `job` is missing"),
        (#"{"type":"job.accept","id":1}"#, "job.accept: `job` is missing"),
        (#"{"type":"job.finish","id":1,"data":{"job":7}}"#, "job.finish: `data.job` has the wrong type"),
    ])
    func malformedRequestsAreExplained(_ text: String, _ message: String) {
        let incoming = IncomingCallRequest(parsing: Array(text.utf8))
        guard case .failure(let error) = incoming.content else {
            Issue.record("\(text) is accepted")
            return
        }
        #expect(incoming.id == 1 && error.code == .invalidArgument && error.message == message, "\(error)")
    }

    @Test(arguments: [JobEvent.offered(job), .cancelled(JobID(text: "JB_1"), reason: "the room has ended")])
    func eventsSurviveEncodingAndDecoding(_ event: JobEvent) throws {
        #expect(try CallMessage(parsing: event.bytes) == .job(event))
    }

    @Test func replyToAnAcceptHasTheRoomAndTheAssistant() throws {
        let reply = CallReply(
            job: Self.job, livekitURL: "wss://host", livekitToken: "a.b.c",
            assistant: AssistantDefinition(id: "a", instructions: "Be brief."))
        #expect(reply.roomName == "r")
        #expect(try CallMessage(parsing: reply.bytes(re: 3)) == .reply(re: 3, reply))
    }
}
