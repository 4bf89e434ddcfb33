//! What statements do to the cluster. Every change has its inverse here, and plugins that count are told of both.

use super::Session;
use crate::plugin::SessionPlugin;
use crate::points::Ledger;
use crate::statement::Operation;
use crate::view::View;
use mco_model::status::TaskStatus;
use mco_model::{Decision, NodeId, TaskId};

impl Session<'_> {
    pub(crate) fn place(&mut self, task: TaskId, node: NodeId, status: TaskStatus) {
        self.cluster.set_status(task, status);
        self.cluster.count_on(task, node);
        if self.pods_in_sight {
            self.cluster.occupy(task, node);
        }
        self.each_ledger(|ledger, view| ledger.allocated(view, task));
    }

    pub(crate) fn take_back(&mut self, task: TaskId) {
        if let Some(node) = self.cluster.task(task).node
            && self.pods_in_sight
        {
            self.cluster.vacate(task, node);
        }
        self.cluster.set_status(task, TaskStatus::Pending);
        self.cluster.uncount(task);
        self.each_ledger(|ledger, view| ledger.deallocated(view, task));
    }

    pub(crate) fn evict(&mut self, task: TaskId) {
        let node = self.cluster.task(task).node;
        self.cluster.set_status(task, TaskStatus::Releasing);
        if let Some(node) = node {
            self.cluster.count_on(task, node);
            if self.pods_in_sight {
                self.cluster.vacate(task, node);
            }
        }
        self.each_ledger(|ledger, view| ledger.deallocated(view, task));
    }

    pub(crate) fn reinstate(&mut self, task: TaskId, status: TaskStatus) {
        let node = self.cluster.task(task).node;
        self.cluster.set_status(task, status);
        if let Some(node) = node {
            self.cluster.count_on(task, node);
            if self.pods_in_sight {
                self.cluster.occupy(task, node);
            }
        }
        self.each_ledger(|ledger, view| ledger.allocated(view, task));
    }

    pub(crate) fn bind(&mut self, task: TaskId) {
        let Some(node) = self.cluster.task(task).node else {
            return;
        };
        self.cluster.set_status(task, TaskStatus::Binding);
        self.decisions.push(Decision::Bind { task, node });
        if !self.pods_in_sight {
            self.unseen.push((task, node));
        }
        self.fits.set_last_transaction(task, None);
    }

    pub(crate) fn send_eviction(&mut self, task: TaskId, reason: &'static str) {
        self.decisions.push(Decision::Evict { task, reason });
        self.evicted.push(task);
        self.fits.set_last_transaction(task, None);
    }

    pub(crate) fn keep(&mut self, operations: Vec<Operation>) {
        self.kept.extend(operations);
    }

    pub(crate) fn remember_transaction(&mut self, task: TaskId) {
        let row = self.cluster.task(task);
        self.fits.set_last_transaction(task, Some((row.status, row.node)));
    }

    fn each_ledger(&mut self, mut tell: impl FnMut(&mut dyn Ledger, View<'_>)) {
        for plugin in &mut self.plugins {
            if let Some(ledger) = plugin.ledger() {
                tell(ledger, View::new(self.cluster, &self.facts, &self.fits));
            }
        }
    }

    pub(crate) fn ask_mut<R>(
        &mut self,
        plugin: usize,
        ask: impl FnOnce(&mut dyn SessionPlugin, View<'_>) -> R,
    ) -> R {
        ask(
            self.plugins[plugin].as_mut(),
            View::new(self.cluster, &self.facts, &self.fits),
        )
    }
}
