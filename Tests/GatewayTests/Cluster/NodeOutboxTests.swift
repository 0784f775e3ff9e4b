import Backend
import Synchronization
import Testing
import Wire

@testable import Gateway

@Suite(.onOwnThread, .timeLimit(.minutes(1)))
struct NodeOutboxTests {
    /// Stands for the other node: answers batches as scripted, and keeps them.
    private final class Receiver: Sendable {
        let answers: Mutex<[NodeOutbox.Outcome]>
        let batches = Mutex<[NodeMessageBatch]>([])
        let returned = Mutex<[NodeMessage]>([])

        /// - Parameter answers: to the first batches; later ones are accepted.
        init(_ answers: NodeOutbox.Outcome...) { self.answers = Mutex(answers) }

        func outbox() -> NodeOutbox {
            NodeOutbox(sender: "n1/1") { [self] batch in
                batches.withLock { $0.append(batch) }
                return answers.withLock { $0.isEmpty ? .delivered : $0.removeFirst() }
            } giveBack: { [self] messages in
                returned.withLock { $0 += messages }
            }
        }

        var messages: [NodeMessage] { batches.withLock { $0.flatMap(\.messages) } }
    }

    private func message(_ number: Int) -> NodeMessage { .dispatch(.roomEnded("r\(number)")) }

    @Test func messagesAreDeliveredInOrder() throws {
        let receiver = Receiver()
        let outbox = receiver.outbox()
        for number in 0..<1_000 { #expect(outbox.append(message(number))) }
        try Patience.until("all are delivered") { receiver.messages.count == 1_000 }
        #expect(receiver.messages == (0..<1_000).map(message))
        let numbers = receiver.batches.withLock { $0.map(\.number) }
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    }

    @Test func batchThatMayHaveArrivedIsRepeatedWithItsNumber() throws {
        let receiver = Receiver(.failed, .failed)
        let outbox = receiver.outbox()
        _ = outbox.append(message(1))
        try Patience.until("it is sent three times") { receiver.messages.count == 3 }
        #expect(receiver.batches.withLock { Set($0.map(\.number)).count } == 1)
    }

    @Test func messagesToANodeThatHasEndedComeBack() throws {
        let receiver = Receiver(.ended)
        let outbox = receiver.outbox()
        _ = outbox.append(message(1))
        try Patience.until("it comes back") { receiver.returned.withLock { !$0.isEmpty } }
        #expect(receiver.returned.withLock { $0 } == [message(1)])
    }

    @Test func laterOutboxNumbersItsBatchesHigher() throws {
        let receiver = Receiver()
        for number in 1...2 {
            _ = receiver.outbox().append(message(number))
            try Patience.until("it is delivered") { receiver.messages.count == number }
        }
        let numbers = receiver.batches.withLock { $0.map(\.number) }
        #expect(numbers[0] < numbers[1])
    }

    @Test func unknownMessagesOfALaterVersionAreIgnored() {
        let batch = NodeMessageBatch(sender: "n1/1", number: 7, messages: [message(1)])
        let text = String(decoding: batch.bytes, as: UTF8.self)
        let later = text.replacing("\"messages\":[", with: "\"messages\":[{\"later\":{\"_0\":1}},")
        let read = NodeMessageBatch(Array(later.utf8))
        #expect(later != text && read?.number == 7 && read?.messages == [message(1)])
        #expect(NodeMessageBatch(Array("{}".utf8)) == nil)
    }
}
