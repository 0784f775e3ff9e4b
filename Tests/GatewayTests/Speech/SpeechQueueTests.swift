import Store
import Testing
import Wire

@testable import Backend

struct SpeechQueueTests {
    private var queue: SpeechQueue
    private let ann = SpeechRequester.user(UserID())
    private let bob = SpeechRequester.user(UserID())
    private let clips = (0..<6).map { _ in ClipID() }

    init() {
        var limits = SpeechLimits()
        limits.runningMax = 2
        limits.jobsMax = 4
        limits.jobsPerRequesterMax = 3
        limits.attemptsMax = 3
        limits.backoff = Backoff(.exponential, unit: .seconds(1), delayMax: .seconds(30))
        queue = SpeechQueue(limits: limits)
    }

    private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    private mutating func effects(_ body: (inout SpeechQueue, inout [SpeechQueue.Effect]) -> Void) -> [SpeechQueue.Effect] {
        var effects: [SpeechQueue.Effect] = []
        body(&queue, &effects)
        return effects
    }

    private mutating func add(_ clip: Int, for requester: SpeechRequester, at seconds: Int = 0) -> [SpeechQueue.Effect] {
        let id = clips[clip]
        return effects { $0.add(id, for: [requester], at: Self.at(seconds), into: &$1) }
    }

    private mutating func cancel(
        _ clip: Int, for requester: SpeechRequester, isReady: Bool = false
    ) -> (wasWaiting: Bool, effects: [SpeechQueue.Effect]) {
        let id = clips[clip]
        var wasWaiting = false
        let effects = effects { wasWaiting = $0.cancel(id, for: requester, isReady: isReady, at: Self.at(1), into: &$1) }
        return (wasWaiting, effects)
    }

    @Test mutating func identicalRequestsShareOneJob() {
        #expect(add(0, for: ann) == [.start(clips[0])])
        #expect(add(0, for: bob) == [])
        let id = clips[0]
        #expect(effects { $0.progressed(id, to: 40, into: &$1) } == [.tell(.progress(id, 40), [ann, bob])])
        // Progress never goes back.
        #expect(effects { $0.progressed(id, to: 30, into: &$1) } == [])
        #expect(queue.state(of: id, for: bob)?.status == .generating && queue.state(of: id, for: bob)?.progress == 40)
        #expect(effects { $0.finished(id, at: Self.at(1), into: &$1) } == [.tell(.ready(id), [ann, bob])])
        #expect(queue.count == 0 && queue.state(of: id, for: ann) == nil)
    }

    @Test mutating func jobsWaitForAFreeGenerator() {
        #expect(add(0, for: ann) + add(1, for: ann) == [.start(clips[0]), .start(clips[1])])
        #expect(add(2, for: ann) == [])
        #expect(queue.state(of: clips[2], for: ann)?.status == .queued)
        let id = clips[0]
        #expect(effects { $0.finished(id, at: Self.at(1), into: &$1) } == [.tell(.ready(id), [ann]), .start(clips[2])])
    }

    @Test mutating func newJobsAreLimitedPerRequesterAndInAll() {
        for clip in 0..<3 { _ = add(clip, for: ann) }
        #expect(queue.refusal(of: ann) == .tooMany && queue.refusal(of: bob) == nil)
        _ = add(3, for: bob)
        #expect(queue.refusal(of: bob) == .full)
    }

    @Test mutating func cancellingKeepsTheJobForOthers() {
        _ = add(0, for: ann)
        _ = add(0, for: bob)
        let id = clips[0]
        #expect(cancel(0, for: ann) == (true, []))
        #expect(queue.state(of: id, for: ann)?.status == .cancelled && queue.state(of: id, for: bob)?.status == .generating)
        #expect(cancel(0, for: ann) == (false, []))
        #expect(cancel(0, for: bob) == (true, [.stop(id)]))
        #expect(queue.count == 0)
        // A late result changes nothing.
        #expect(effects { $0.finished(id, at: Self.at(2), into: &$1) } == [])
        // Asking again begins anew.
        #expect(add(0, for: ann, at: 3) == [.start(id)])
        #expect(queue.state(of: id, for: ann)?.status == .generating)
    }

    @Test mutating func deletingAClipThatBecameReadyMeanwhileCancelsNothing() {
        _ = add(0, for: ann)
        #expect(cancel(0, for: ann, isReady: true) == (true, [.stop(clips[0])]))
        #expect(queue.state(of: clips[0], for: ann) == nil)
    }

    @Test mutating func aWaitingJobIsCancelledWithoutAStop() {
        for clip in 0..<3 { _ = add(clip, for: ann) }
        #expect(cancel(2, for: ann) == (true, []))
        #expect(queue.count == 2)
    }

    @Test mutating func aFailureIsRepeatedAfterADelayBehindWaitingJobs() {
        for clip in 0..<3 { _ = add(clip, for: ann) }
        let passing = SpeechGenerationError("busy", isRetryable: true)
        let id = clips[0]
        #expect(effects { $0.failed(id, passing, at: Self.at(10), random: 0, into: &$1) } == [.start(clips[2])])
        #expect(queue.state(of: id, for: ann)?.status == .queued)
        // Both generators are busy: nothing to wake for.
        #expect(queue.deadline == nil)
        let other = clips[1]
        _ = effects { $0.finished(other, at: Self.at(10), into: &$1) }
        #expect(queue.deadline == Self.at(11))
        #expect(effects { $0.wake(at: Self.at(10), into: &$1) } == [])
        #expect(effects { $0.wake(at: Self.at(11), into: &$1) } == [.start(id)])
        _ = effects { $0.failed(id, passing, at: Self.at(12), random: 0, into: &$1) }
        #expect(queue.deadline == Self.at(14))
        #expect(effects { $0.wake(at: Self.at(14), into: &$1) } == [.start(id)])
        let ann = ann
        #expect(
            effects { $0.failed(id, passing, at: Self.at(15), random: 0, into: &$1) } == [
                .fail(id, reason: "busy"), .tell(.failed(id, message: "busy"), [ann]),
            ])
        #expect(!queue.hasJob(id))
    }

    @Test mutating func aPermanentFailureIsNotRepeated() {
        _ = add(0, for: ann)
        let (id, ann) = (clips[0], ann)
        let error = SpeechGenerationError("no such voice", isRetryable: false)
        #expect(
            effects { $0.failed(id, error, at: Self.at(1), random: 0, into: &$1) } == [
                .fail(id, reason: "no such voice"), .tell(.failed(id, message: "no such voice"), [ann]),
            ])
    }

    @Test mutating func deletingAClipEndsItsJobForEveryone() {
        _ = add(0, for: ann)
        let (id, ann) = (clips[0], ann)
        #expect(
            effects { $0.end(id, at: Self.at(1), into: &$1) } == [.stop(id), .tell(.failed(id, message: "the clip was deleted"), [ann])])
    }

    @Test func eventsHaveTheDocumentedForm() throws {
        let id = ClipID()
        for (event, text) in [
            (SpeechEvent.progress(id, 40), #"{"type":"speech.progress","data":{"id":"\#(id)","progress":40}}"#),
            (.ready(id), #"{"type":"speech.ready","data":{"id":"\#(id)"}}"#),
            (.failed(id, message: "no"), #"{"type":"speech.failed","data":{"id":"\#(id)","message":"no"}}"#),
        ] {
            #expect(String(decoding: event.bytes, as: UTF8.self) == text)
            // Clients of calls ignore them.
            guard case .unknownEvent = try CallMessage(parsing: event.bytes) else {
                Issue.record("not an unknown event")
                return
            }
        }
    }
}
