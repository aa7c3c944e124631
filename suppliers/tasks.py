"""Celery tasks of suppliers, imported here because Celery looks for them here; each is safe to run twice."""

import logging

from celery import shared_task

from core import clock
from core.history.partitions import Busy
from core.rounds import SLICE_SECONDS, until

from .agreements.sweeping import expire_agreements as end_agreements
from .analytics import folding, rating
from .analytics.reports import upkeep as report_upkeep
from .analytics.reports import worker as report_worker
from .company.sweeping import tell_licenses as tell_ending_licenses
from .files import scanning as file_scanning
from .files import sweeping as file_sweeping
from .inventory import availability_sweep, expiring, sweeping
from .inventory.movements.counters import fold_days
from .inventory.movements.upkeep import make_months
from .inventory.recalls import walking
from .marketplace.sweeping import expire_offers as end_offers
from .notifications import mails, upkeep
from .orders import backorders, overdue
from .terms.promotions.sweeping import tell_promotions as tell_of_promotions

__all__ = [
    "allocate_backorders",
    "carry_reports_on",
    "expire_agreements",
    "expire_offers",
    "expire_reservations",
    "fold_figures",
    "forget_closed",
    "keep_movements",
    "keep_notifications",
    "rate_suppliers",
    "refresh_availability",
    "refresh_shelf_life",
    "review_alerts",
    "scan_files",
    "send_notification_mails",
    "sweep_files",
    "sweep_reports",
    "tell_expiries",
    "tell_levels",
    "tell_licenses",
    "tell_overdue_orders",
    "tell_promotions",
    "walk_recalls",
]

log = logging.getLogger(__name__)


@shared_task(name="suppliers.expire_agreements", ignore_result=True, acks_late=False)
def expire_agreements() -> None:
    """End agreements and tell of those that end soon; runs every minute, since the day begins at another hour in each zone."""
    end_agreements(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.expire_offers", ignore_result=True, acks_late=False)
def expire_offers() -> None:
    """End the offers whose validity is over; runs every minute."""
    end_offers(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.scan_files", ignore_result=True, acks_late=False)
def scan_files() -> None:
    """Look for announced contents and scan what stands in quarantine; rung by an upload, and every five seconds."""
    file_scanning.scan_files(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.sweep_files", ignore_result=True, acks_late=False)
def sweep_files() -> None:
    """Delete the objects that no file holds; rung by a deletion, and every minute."""
    file_sweeping.sweep_objects(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.forget_closed", ignore_result=True, acks_late=False)
def forget_closed() -> None:
    """Delete the objects of closed tenants; runs every hour."""
    file_sweeping.sweep_closed()


@shared_task(name="suppliers.carry_reports_on", ignore_result=True, acks_late=False)
def carry_reports_on() -> None:
    """Read and write reports; rung by whoever asks for one, and every five seconds."""
    report_worker.carry_on(go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.sweep_reports", ignore_result=True, acks_late=False)
def sweep_reports() -> None:
    """Take away the files of reports that are a week old, and forget reports of long ago; runs every minute."""
    report_upkeep.sweep_reports(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.expire_reservations", ignore_result=True, acks_late=False)
def expire_reservations() -> None:
    """End the reservations whose time is over; runs every five seconds."""
    sweeping.expire_reservations(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.tell_expiries", ignore_result=True, acks_late=False)
def tell_expiries() -> None:
    """Tell of lots that expire soon or have expired; runs every hour, since the day begins at another hour in each zone."""
    expiring.tell_expiries(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.tell_levels", ignore_result=True, acks_late=False)
def tell_levels() -> None:
    """Tell of levels that have changed since they were told of; runs every second."""
    sweeping.tell_levels(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.tell_licenses", ignore_result=True, acks_late=False)
def tell_licenses() -> None:
    """Tell suppliers of licences that end soon; runs every hour, since the day begins at another hour for each supplier."""
    tell_ending_licenses(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.tell_promotions", ignore_result=True, acks_late=False)
def tell_promotions() -> None:
    """Tell suppliers of promotions whose window begins or ends; runs every minute."""
    tell_of_promotions(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.refresh_availability", ignore_result=True, acks_late=False)
def refresh_availability() -> None:
    """Look again at products whose lots have expired; runs every five minutes."""
    availability_sweep.refresh_availability(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.refresh_shelf_life", ignore_result=True, acks_late=False)
def refresh_shelf_life() -> None:
    """Look again at products whose lots last too short to be sold from today on; runs every half hour."""
    availability_sweep.refresh_shelf_life(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.keep_movements", ignore_result=True, acks_late=False)
def keep_movements() -> None:
    """Make months of the ledger of movements ahead and fold the counters of days that are over; runs every hour.

    Whoever finds another run under way leaves the months alone.
    """
    fold_days(at=clock.now(), go_on=until(SLICE_SECONDS))
    try:
        made = make_months(at=clock.now())
    except Busy as error:
        log.warning("stock movements not kept", extra={"reason": str(error)})
        return
    if made:
        log.info("stock movements kept", extra={"made": made})


@shared_task(name="suppliers.walk_recalls", ignore_result=True, acks_late=False)
def walk_recalls() -> None:
    """Tell the buyers of recalled lots; a recall rings for it, and it runs every second besides."""
    walking.walk_recalls(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.send_notification_mails", ignore_result=True, acks_late=False)
def send_notification_mails() -> None:
    """Queue the mails about notifications that are due; rung by each, and every half minute besides."""
    mails.send_mails(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.review_alerts", ignore_result=True, acks_late=False)
def review_alerts() -> None:
    """Close the alerts of lots of which nothing is left, and let the others say how near the end is; runs every hour."""
    upkeep.review_alerts(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.keep_notifications", ignore_result=True, acks_late=False)
def keep_notifications() -> None:
    """Make months of notifications ahead; runs every hour. Whoever finds another run under way leaves it alone."""
    try:
        made = upkeep.make_months(at=clock.now())
    except Busy as error:
        log.warning("months of notifications not kept", extra={"reason": str(error)})
        return
    if made:
        log.info("months of notifications kept", extra={"made": made})


@shared_task(name="suppliers.allocate_backorders", ignore_result=True, acks_late=False)
def allocate_backorders() -> None:
    """Allocate stock that has come to the lines that wait for it; runs every minute, behind what facts have rung for."""
    backorders.allocate_backorders(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.tell_overdue_orders", ignore_result=True, acks_late=False)
def tell_overdue_orders() -> None:
    """Alert both parties of orders that were to be answered before now; runs every minute."""
    overdue.tell_overdue_orders(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.fold_figures", ignore_result=True, acks_late=False)
def fold_figures() -> None:
    """Sum up the roll-ups of analytics that have stood apart for a day; runs every five minutes."""
    folding.fold_figures(at=clock.now(), go_on=until(SLICE_SECONDS))


@shared_task(name="suppliers.rate_suppliers", ignore_result=True, acks_late=False)
def rate_suppliers() -> None:
    """Rate suppliers for whom a day has begun; runs every ten minutes, since the day begins at another hour in each zone."""
    rating.rate_suppliers(at=clock.now(), go_on=until(SLICE_SECONDS))
